import NetworkLayer
import Synchronization

/// Shows the progress of a long body on a terminal: after half a second, and then five times a second.
final class ProgressMeter: Sendable {
    private struct State {
        var next: ContinuousClock.Instant
        var isShown = false
    }

    /// Erases the terminal's current line.
    static let wipe = "\r\u{1B}[K"

    private let output: OutputWriter
    private let start = ContinuousClock.now
    private let state: Guarded<State>

    init(on output: OutputWriter) {
        self.output = output
        state = Guarded(State(next: start + .milliseconds(500)))
    }

    /// The handler for a request's options. It never waits for the terminal: the transport's thread must not block.
    var handler: @Sendable (TransferProgress) -> Void {
        { [self] progress in
            let now = ContinuousClock.now
            let isDue = state.withLock { state in
                guard now >= state.next else { return false }
                state = State(next: now + .milliseconds(200), isShown: true)
                return true
            }
            if isDue {
                output.post(Self.wipe + Self.text(progress.completed, of: progress.total, after: now - start))
            }
        }
    }

    /// Erases the line, if one is shown.
    func clear() {
        if state.withLock({ $0.isShown }) { output.post(Self.wipe) }
    }

    /// Returns the text of the line, such as `12.3 MB of 40.0 MB (30 %), 4.1 MB/s`.
    static func text(_ received: Int, of expected: Int?, after elapsed: Duration) -> String {
        var text = megabytes(Double(received))
        if let expected, expected > 0 {
            // More bytes than announced arrive if the announced length is the compressed one.
            text += received <= expected ? " of \(megabytes(Double(expected))) (\(received * 100 / expected) %)" : ""
        }
        let seconds = elapsed.inSeconds
        return seconds > 0 ? text + ", \(megabytes(Double(received) / seconds))/s" : text
    }

    private static func megabytes(_ bytes: Double) -> String { "\((bytes / 100_000).rounded() / 10) MB" }
}
