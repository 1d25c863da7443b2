import FoundationEssentials
import NetworkCore

/// A HAR file that grows. After each entry it is a whole document: the closing brackets are overwritten by the entry
/// and new ones, in one write. Until the file is closed, the document says that it is incomplete.
struct HARFile: Sendable {
    /// What happened to an entry.
    enum Outcome: Sendable {
        case written
        /// The entry was left out; `reason` is there only the first time.
        case leftOut(reason: NetworkError?)
    }

    private let file: PrivateFile
    private let maximumBytes: Int
    private let maximumValues: Int
    private let beforeWrite: @Sendable () -> Void
    /// The offset of the closing brackets.
    private var end = 0
    /// The number of values in the document, which a reader limits.
    private var values = HARReader.valueCount(of: HARWriter.start + HARWriter.openEnd)
    private(set) var written = 0
    private(set) var failure: NetworkError?
    private var isFull = false
    private var isClosed = false

    /// - Parameter beforeWrite: Called before each write, for tests of a slow disk. Default: nothing.
    init(
        _ file: PrivateFile, maximumBytes: Int, maximumValues: Int = HARReader.maximumValues,
        beforeWrite: @escaping @Sendable () -> Void = {}
    ) {
        (self.file, self.maximumBytes, self.maximumValues) = (file, maximumBytes, maximumValues)
        self.beforeWrite = beforeWrite
    }

    /// Writes the document without entries.
    /// - Returns: The error, if it could not be written.
    mutating func begin() -> NetworkError? {
        do {
            try write(HARWriter.start + HARWriter.openEnd, at: 0)
            end = HARWriter.start.count
        } catch {
            failure = error
        }
        return failure
    }

    /// Adds an entry.
    mutating func append(_ entry: [UInt8]) -> Outcome {
        guard failure == nil, !isFull, !isClosed else { return .leftOut(reason: nil) }
        let text = (written > 0 ? HARWriter.separator : []) + entry
        let count = HARReader.valueCount(of: text)
        guard end + text.count + HARWriter.openEnd.count <= maximumBytes, values + count <= maximumValues else {
            isFull = true
            return .leftOut(reason: .fullRecording(maximumBytes, maximumValues))
        }
        do {
            try write(text + HARWriter.openEnd, at: end)
        } catch {
            failure = error
            restore()
            return .leftOut(reason: error)
        }
        end += text.count
        values += count
        written += 1
        return .written
    }

    private func write(_ bytes: [UInt8], at offset: Int) throws(NetworkError) {
        beforeWrite()
        try file.write(Data(bytes), at: offset)
    }

    /// Removes the part of an entry that was written, so that the entries before it stay readable. On a full disk, what
    /// is cut off makes room for the brackets.
    private func restore() {
        try? file.truncate(to: end)
        try? write(HARWriter.openEnd, at: end)
    }

    /// Closes the file. A second call does nothing.
    /// - Parameter isComplete: Whether no entry was left out. The document is ended only then.
    /// - Returns: The first error of the file, if there was one.
    mutating func close(isComplete: Bool) -> NetworkError? {
        guard !isClosed else { return failure }
        isClosed = true
        do {
            if isComplete, failure == nil { try write(HARWriter.closedEnd, at: end) }
        } catch {
            failure = error
        }
        do { try file.close() } catch { failure = failure ?? error }
        return failure
    }
}

extension NetworkError {
    fileprivate static func fullRecording(_ maximumBytes: Int, _ maximumValues: Int) -> NetworkError {
        NetworkError(
            .unwritableFile,
            "the recording would have more than \(maximumBytes) bytes, or \(maximumValues) values, which is more than "
                + "can be read; nothing more is recorded")
    }
}
