import NetworkLayer

/// A line on standard error that shows how far something is: on a terminal always the same one, elsewhere a new one.
final class ProgressLine: Sendable {
    private struct State {
        var next: ContinuousClock.Instant
        var isShown = false
    }

    /// Erases the terminal's current line.
    static let wipe = "\r\u{1B}[K"

    private let output: OutputWriter
    private let terminal: Descriptor?
    private let pause: Duration
    private let start = ContinuousClock.now
    private let state: Guarded<State>

    init(after first: Duration, each pause: Duration, on terminal: Descriptor?, output: OutputWriter = .standardError) {
        (self.pause, self.terminal, self.output) = (pause, terminal, output)
        state = Guarded(State(next: start + first))
    }

    /// Shows a line, unless it is too early. Never waits for the terminal: the transport's thread must not block.
    func show(_ text: (_ elapsed: Duration) -> String) {
        let now = ContinuousClock.now
        let isDue = state.withLock { state in
            guard now >= state.next else { return false }
            state = State(next: now + pause, isShown: true)
            return true
        }
        guard isDue else { return }
        let text = TerminalText.line(text(now - start))
        output.post(terminal.map { Self.wipe + text.prefix(($0.columns ?? 80) - 1) } ?? text + "\n")
    }

    /// Erases the line, if one is shown.
    func clear() {
        let wasShown = state.withLock { state in
            defer { state.isShown = false }
            return state.isShown
        }
        if terminal != nil, wasShown { output.post(Self.wipe) }
    }

    // MARK: Bodies

    /// Returns a line for the progress of a body if standard error is a terminal: after half a second, and then five
    /// times a second.
    static func ofBody() -> ProgressLine? {
        guard Descriptor.standardError.isTerminal else { return nil }
        return ProgressLine(after: .milliseconds(500), each: .milliseconds(200), on: .standardError)
    }

    var handler: @Sendable (TransferProgress) -> Void {
        { [self] progress in show { Self.text(progress.completed, of: progress.total, after: $0) } }
    }

    /// Returns the text of the line, such as `12.3 MB of 40.0 MB (30 %), 4.1 MB/s`.
    static func text(_ received: Int, of expected: Int?, after elapsed: Duration) -> String {
        func megabytes(_ bytes: Double) -> String { "\((bytes / 100_000).rounded() / 10) MB" }
        var text = megabytes(Double(received))
        if let expected, expected > 0 {
            // More bytes than announced arrive if the announced length is the compressed one.
            text += received <= expected ? " of \(megabytes(Double(expected))) (\(received * 100 / expected) %)" : ""
        }
        let seconds = elapsed.inSeconds
        return seconds > 0 ? text + ", \(megabytes(Double(received) / seconds))/s" : text
    }
}
