import NetworkLayer
import NetworkRecording

/// The exit status of the process.
enum ProcessStatus: Int32, CaseIterable, Sendable {
    case done = 0
    case refusedByResult = 1
    case usage = 2
    case refusedBeforeSending = 3
    case notConnected = 4
    case timeout = 5
    case brokenExchange = 6
    case bodyTooLarge = 7
    case file = 8
    case hungUp = 129
    case interrupted = 130
    case closedPipe = 141
    case terminated = 143

    /// The status for an error of the library.
    init(_ error: NetworkError) {
        switch error.code {
        case .invalidURL, .invalidMethod, .invalidHeaderField, .invalidParameters, .invalidOption, .unsupported,
            .invalidConfiguration, .overloaded:
            self = .refusedBeforeSending
        case .shutDown where error.phase == .preparing || error.phase == .queued: self = .refusedBeforeSending
        case .connectFailed, .nameNotResolved, .proxyFailed, .addressRefused: self = .notConnected
        case _ where error.code.isTLS: self = .notConnected
        case .connectTimeout, .firstByteTimeout, .idleTimeout, .totalTimeout, .lowSpeed: self = .timeout
        case .bodyTooLarge: self = .bodyTooLarge
        case .unreadableFile, .unwritableFile, .diskFull, .invalidCookieFile, .invalidRecording: self = .file
        case .unacceptableStatus, .unacceptableContentType, .checksumMismatch: self = .refusedByResult
        default: self = .brokenExchange
        }
    }

    /// The meaning of the status, for the help.
    var meaning: String {
        switch self {
        case .done: "done; run: every line has a result, good or bad"
        case .refusedByResult:
            "fetch --fail: not 2xx; --checksum: mismatch; compare, replay: differences; record: failures; serve: no port"
        case .usage: "wrong usage"
        case .refusedBeforeSending: "refused before sending: URL, header, option, \(TransportKind.variable)"
        case .notConnected: "no connection: name lookup, TCP, TLS, proxy"
        case .timeout: "timeout"
        case .brokenExchange: "connection lost, truncated or invalid response"
        case .bodyTooLarge: "the body is larger than --max-body"
        case .file: "a file, standard input or output can't be read or written, or is no HAR file"
        case .hungUp: "hung up (SIGHUP)"
        case .interrupted: "interrupted (SIGINT)"
        case .closedPipe: "the reader of standard output closed it"
        case .terminated: "terminated (SIGTERM); serve ends with 0 after any of the three"
        }
    }

    /// The table of exit statuses, for the help.
    static let table: String = {
        let rows = allCases.map { status in
            let number = String(status.rawValue)
            return "  " + number + String(repeating: " ", count: 5 - number.count) + status.meaning
        }
        return "EXIT STATUS:\n" + rows.joined(separator: "\n")
    }()
}

/// The reason why a command ends early: its message and its exit status.
struct ToolFailure: Error, Sendable {
    var status: ProcessStatus
    /// The text to print after `netlayer: `; empty to print nothing.
    var message: String

    init(_ status: ProcessStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// Returns a failed write. A closed pipe has no message, because `| head -1` is the usual reason.
    static func unwritable(_ name: String, _ failure: SystemFailure) -> ToolFailure {
        failure.isClosedPipe
            ? ToolFailure(.closedPipe, "")
            : ToolFailure(.file, "\(name) can't be written: \(failure.message)")
    }

    static func unreadable(_ name: String, _ failure: SystemFailure) -> ToolFailure {
        ToolFailure(.file, "\(name) can't be read: \(failure.message)")
    }
}

extension NetworkError {
    /// A suggestion for the user, after a semicolon; empty if the message is sufficient.
    var advice: String {
        switch code {
        case .connectFailed: "; is the server running, and are the host and the port right?"
        case .nameNotResolved: "; check the host name and this machine's name lookup"
        case _ where code.isTLS: "; check the certificate, the host name and this machine's clock"
        case .totalTimeout: "; --timeout sets the limit"
        case .bodyTooLarge: "; --max-body raises the limit"
        default: ""
        }
    }
}
