internal import Foundation
package import Testing

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs: after the given minutes, or a multiple of them where a script knows that tests are slow.
    ///
    /// The time counts while a test waits for a core, and under a sanitizer hundreds of tests do. A test that has a
    /// deadline to prove measures it.
    ///
    /// - Parameter minutes: The minutes on an idle machine. `NETWORKLAYER_TEST_PATIENCE` is the factor, 1 by default.
    package static func patience(minutes: Int) -> Self { .timeLimit(.minutes(minutes * patienceFactor)) }
}

/// How much longer than usual a test may take: `NETWORKLAYER_TEST_PATIENCE`, 1 by default.
package let patienceFactor: Int = {
    guard let text = ProcessInfo.processInfo.environment["NETWORKLAYER_TEST_PATIENCE"] else { return 1 }
    guard let factor = Int(text), factor > 0 else { fatalError("NETWORKLAYER_TEST_PATIENCE is no factor: \(text)") }
    return factor
}()

/// How much longer than usual a test waits in which a time has to pass. At most 2: tests that run one at a time would
/// take minutes.
package let pauseFactor = min(patienceFactor, 2)
