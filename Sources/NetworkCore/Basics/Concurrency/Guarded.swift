package import Synchronization

#if NETWORKLAYER_THREAD_SANITIZER
import Foundation

/// A value behind a lock that ThreadSanitizer understands.
///
/// On Linux `Mutex` waits on a futex, which ThreadSanitizer can't see, so it would report every guarded access.
/// `scripts/test --sanitize=thread` builds with this type.
///
/// @unchecked: the value is accessed only under the lock.
package struct Guarded<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private final class Box {
        let lock = NSLock()
        var value: Value
        init(_ value: consuming Value) { self.value = value }
    }

    private let box: Box

    package init(_ value: consuming sending Value) { box = Box(value) }

    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        box.lock.lock()
        defer { box.lock.unlock() }
        return try body(&box.value)
    }
}
#else
package typealias Guarded<Value: ~Copyable> = Mutex<Value>
#endif
