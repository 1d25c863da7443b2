public import Logging
import FoundationEssentials
public import NetworkCore
import Synchronization

/// A HAR 1.2 file to which exchanges are written as they end. After each of them it is a whole document, so that a
/// program that ends early leaves a usable file; until ``close()``, the document says that it is incomplete.
///
/// The file is written on a queue of its own. An error, such as a full disk, ends the recording and harms no request:
/// it is logged once as a warning, passed to the handler, and thrown by ``flush()`` and ``close()``.
public final class RecordingFile: EntrySink, SafelyPrinted {
    /// The path of the file.
    public let path: String

    private struct Counts: Sendable {
        var written = 0
        var leftOut = 0
    }

    private let queue = EntryQueue("RecordingFile")
    /// Locked while the disk is written, so only the queue may wait for it.
    private let file: Guarded<HARFile>
    private let counts = Guarded(Counts())
    private let logger: Logger
    private let onFailure: @Sendable (NetworkError) -> Void
    private let isLate = OneTimeFlag()

    /// Creates the file, with the permissions 0600.
    /// - Parameters:
    ///   - path: The path of the file. Its folder must exist.
    ///   - overwrites: Whether there may be a file already, whose contents are then lost. Default: `false`.
    ///   - maximumBytes: The limit on the size of the file, in bytes. After an exchange that would exceed it, nothing
    ///     more is recorded. Default: 256 MiB.
    ///   - logger: The logger for the one warning that exchanges are not recorded. Default: one with the label
    ///     `NetworkRecording`.
    ///   - onFailure: Called with the reason at the same time, on the file's own queue. Default: nothing.
    /// - Throws: ``NetworkCore/NetworkError/Code/unwritableFile`` with the system's reason, also for a file that is
    ///   there already.
    public convenience init(
        _ path: String,
        overwrites: Bool = false,
        maximumBytes: Int = Recording.maximumFileBytes,
        logger: Logger = Logger(label: "NetworkRecording"),
        onFailure: @escaping @Sendable (NetworkError) -> Void = { _ in }
    ) throws {
        let file = HARFile(try PrivateFile(creating: path, replaces: overwrites), maximumBytes: maximumBytes)
        self.init(path, file, logger: logger, onFailure: onFailure)
    }

    /// Begins a file that is open.
    init(_ path: String, _ file: HARFile, logger: Logger, onFailure: @escaping @Sendable (NetworkError) -> Void) {
        self.path = path
        self.logger = logger
        self.onFailure = onFailure
        self.file = Guarded(file)
        queue.post { [self] in
            if let error = self.file.withLock({ $0.begin() }) { report(error) }
        }
    }

    deinit { _ = file.withLock { $0.close(isComplete: false) } }

    /// Adds an exchange, without its secrets; see ``Recording/Entry/redactSecrets(in:bodies:)``.
    /// - Parameters:
    ///   - entry: The exchange.
    ///   - bodies: The bodies that are kept. Default: those with a structure.
    public func append(_ entry: Recording.Entry, bodies: Recording.Bodies = .structured) {
        add(size: entry.approximateSize) {
            var shown = entry
            shown.redactSecrets(bodies: bodies)
            return shown
        }
    }

    /// Waits until all exchanges that have ended so far are in the file.
    /// - Throws: The error that ended the recording: ``NetworkCore/NetworkError/Code/diskFull``,
    ///   ``NetworkCore/NetworkError/Code/unwritableFile``.
    public func flush() async throws {
        if let error = await queue.run({ [self] in file.withLock(\.failure) }) { throw error }
    }

    /// Does the same, and closes the file. What ends later is not recorded.
    /// - Throws: The error that ended the recording.
    public func close() async throws {
        let failure = await queue.run { [self] in
            let isComplete = leftOutCount == 0
            return file.withLock { $0.close(isComplete: isComplete) }
        }
        if let failure { throw failure }
    }

    /// The number of exchanges in the file so far.
    public var writtenCount: Int { counts.withLock(\.written) }

    /// The number of exchanges that were not recorded: after an error, because of the limit, after ``close()``, or
    /// while more than 64 MiB waited to be written.
    public var leftOutCount: Int { counts.withLock(\.leftOut) }

    /// The number of exchanges in the file.
    public var description: String { "a recording file with \(writtenCount) exchanges" }

    func add(size: Int, _ make: @escaping @Sendable () -> Recording.Entry) {
        let isAdded = queue.add(size: size) { [self] in
            let line = HARWriter.line(of: make())
            switch file.withLock({ $0.append(line) }) {
            case .written: counts.withLock { $0.written += 1 }
            case .leftOut(let reason):
                counts.withLock { $0.leftOut += 1 }
                if let reason { report(reason) }
            }
        }
        guard !isAdded else { return }
        counts.withLock { $0.leftOut += 1 }
        if isLate.raise() { queue.post { [self] in report(.slowDisk) } }
    }

    private func report(_ error: NetworkError) {
        logger.warning("exchanges are not recorded: \(error)")
        onFailure(error)
    }
}

extension NetworkError {
    fileprivate static var slowDisk: NetworkError {
        NetworkError(
            .unwritableFile,
            "more than \(EntryQueue.maximumQueued) bytes wait to be written; some exchanges are not recorded")
    }
}
