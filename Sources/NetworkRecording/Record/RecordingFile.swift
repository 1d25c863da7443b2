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
    private let document: Guarded<GrowingDocument>
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
        try self.init(path, overwrites, maximumBytes, logger, onFailure, beforeWrite: {})
    }

    /// - Parameter beforeWrite: Called before each write, for tests of a slow disk.
    init(
        _ path: String, _ overwrites: Bool, _ maximumBytes: Int, _ logger: Logger,
        _ onFailure: @escaping @Sendable (NetworkError) -> Void, beforeWrite: @escaping @Sendable () -> Void
    ) throws {
        let file = try PrivateFile(creating: path, replaces: overwrites)
        document = Guarded(GrowingDocument(file: file, maximumBytes: maximumBytes, beforeWrite: beforeWrite))
        (self.path, self.logger, self.onFailure) = (path, logger, onFailure)
        queue.post { [self] in
            do throws(NetworkError) {
                try document.withLock { document throws(NetworkError) in try document.begin() }
            } catch {
                report(error)
            }
        }
    }

    deinit { _ = document.withLock { $0.close(isComplete: false) } }

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
        if let error = await queue.run({ [self] in document.withLock(\.failure) }) { throw error }
    }

    /// Does the same, and closes the file. What ends later is not recorded.
    /// - Throws: The error that ended the recording.
    public func close() async throws {
        let failure = await queue.run { [self] in
            let isComplete = leftOutCount == 0
            return document.withLock { $0.close(isComplete: isComplete) }
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
            let (line, isFirst) = (make().harLine, writtenCount == 0)
            var isWritten = false
            do throws(NetworkError) {
                isWritten = try document.withLock { document throws(NetworkError) in
                    try document.append(line, isFirst: isFirst)
                }
            } catch {
                report(error)
            }
            counts.withLock { isWritten ? ($0.written += 1) : ($0.leftOut += 1) }
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

/// A HAR file of which each entry overwrites the closing brackets, so that it is a whole document all the time.
struct GrowingDocument: Sendable {
    let file: PrivateFile
    let maximumBytes: Int
    let beforeWrite: @Sendable () -> Void
    /// The offset of the closing brackets.
    private var end = HARDocument.start.count
    /// A reader takes no more values than `maximumValues`.
    private(set) var values = HARDocument.valueCount(of: HARDocument.start + Self.openEnd)
    private let maximumValues: Int
    private(set) var failure: NetworkError?
    private var (isFull, isClosed) = (false, false)

    private static let openEnd = HARDocument.end(isIncomplete: true)

    init(
        file: PrivateFile, maximumBytes: Int, maximumValues: Int = HARDocument.maximumValues,
        beforeWrite: @escaping @Sendable () -> Void = {}
    ) {
        (self.file, self.maximumBytes, self.beforeWrite) = (file, maximumBytes, beforeWrite)
        self.maximumValues = maximumValues
    }

    /// Writes the document without entries.
    mutating func begin() throws(NetworkError) { try write(HARDocument.start + Self.openEnd, at: 0) }

    /// Returns whether an entry was written. Throws the reason why nothing is written from now on, once.
    mutating func append(_ entry: [UInt8], isFirst: Bool) throws(NetworkError) -> Bool {
        guard failure == nil, !isFull, !isClosed else { return false }
        let text = (isFirst ? [] : HARDocument.separator) + entry
        let count = HARDocument.valueCount(of: text)
        guard end + text.count + Self.openEnd.count <= maximumBytes, values + count <= maximumValues else {
            isFull = true
            throw .fullRecording(maximumBytes)
        }
        do {
            try write(text + Self.openEnd, at: end)
        } catch {
            // The entries before it stay readable. On a full disk, what is cut off makes room for the brackets.
            try? file.truncate(to: end)
            try? write(Self.openEnd, at: end)
            throw error
        }
        end += text.count
        values += count
        return true
    }

    /// Closes the file, and ends a document without gaps. Returns the first error of the file.
    mutating func close(isComplete: Bool) -> NetworkError? {
        guard !isClosed else { return failure }
        isClosed = true
        if isComplete, failure == nil { try? write(HARDocument.end(isIncomplete: false), at: end) }
        do { try file.close() } catch { failure = failure ?? error }
        return failure
    }

    private mutating func write(_ bytes: [UInt8], at offset: Int) throws(NetworkError) {
        beforeWrite()
        do {
            try file.write(Data(bytes), at: offset)
        } catch {
            failure = failure ?? error
            throw error
        }
    }
}

extension NetworkError {
    fileprivate static func fullRecording(_ maximumBytes: Int) -> NetworkError {
        NetworkError(
            .unwritableFile,
            "the recording would have more than \(maximumBytes) bytes or \(HARDocument.maximumValues) values, which is "
                + "more than can be read; nothing more is recorded")
    }

    fileprivate static var slowDisk: NetworkError {
        NetworkError(
            .unwritableFile,
            "more than \(EntryQueue.maximumQueued) bytes wait to be written; some exchanges are not recorded")
    }
}
