import FoundationEssentials
public import NetworkCore

/// Exchanges of requests and responses, as they are in a HAR 1.2 file.
///
/// ```swift
/// let recording = try Recording(contentsOf: "Fixtures/users.har")
/// for entry in recording.entries { print(entry.request.url, entry.response?.status ?? 0) }
/// ```
///
/// A recording comes from a ``RecordingTransport``, from a browser ("Save all as HAR"), or from entries that a program
/// makes. It may contain secrets in memory; what it writes contains none, see ``Entry/redactSecrets(in:bodies:)``.
public struct Recording: Sendable, SafelyPrinted {
    /// The exchanges, in the order of the file: those of this library in the order in which they ended.
    public var entries: [Entry]

    /// Whether the recording ended before its time: the program did not close the file, or could not write all of it.
    /// Default: `false`, also for a document of another tool.
    public var isIncomplete = false

    /// Creates a recording from exchanges. Default: none.
    public init(entries: [Entry] = []) { self.entries = entries }

    /// The number of entries.
    public var description: String { "a recording of \(entries.count) exchange\(entries.count == 1 ? "" : "s")" }

    /// The maximum size of a file that is read or written if nothing else is said, in bytes: 256 MiB.
    public static let maximumFileBytes = 268_435_456

    /// The maximum size of the recorded part of one body if nothing else is said, in bytes: 1 MiB.
    public static let maximumBodyBytes = 1_048_576
}
