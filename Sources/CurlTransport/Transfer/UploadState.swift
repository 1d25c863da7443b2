import FoundationEssentials
import NetworkCore

/// The flow of a streamed request body from its producer to libcurl. Pure: an event returns what to do.
struct UploadState {
    /// With this much waiting, the producer waits; with less, it is asked for more.
    static let highMark = 256 * 1024
    static let lowMark = 64 * 1024

    /// Chunks are put together up to this many bytes, so that few wait and each is worth its way.
    private static let joinedBytes = 16 * 1024

    private let length: Int?
    /// Few: no two in a row are as small as ``joinedBytes`` together.
    private var waiting: [Data] = []
    private var waitingBytes = 0
    /// Delivered by the producer since the start.
    private var delivered = 0
    private var isComplete = false
    private var failure: (any Error)?
    /// libcurl asked and got nothing: it has to be told when there is something.
    private var isPaused = false
    private(set) var isClosed = false

    init(length: Int?) { self.length = length }

    // MARK: libcurl

    /// What libcurl gets.
    enum Taking {
        case bytes(Data)
        case nothingYet
        case end
        case failed(any Error)
    }

    /// Takes at most `count` bytes.
    /// - Parameter pauses: Whether libcurl, given nothing, waits until it is told.
    /// - Returns: Them, and whether the producer may go on.
    mutating func take(_ count: Int, pauses: Bool = true) -> (taking: Taking, wakesProducer: Bool) {
        if let first = waiting.first {
            let piece = first.prefix(count)
            if piece.count == first.count {
                waiting.removeFirst()
            } else {
                waiting[0] = first.dropFirst(piece.count)
            }
            let before = waitingBytes
            waitingBytes -= piece.count
            return (.bytes(piece), before > Self.lowMark && waitingBytes <= Self.lowMark)
        }
        if let failure { return (.failed(failure), false) }
        if isComplete { return (.end, false) }
        isPaused = pauses
        return (.nothingYet, true)
    }

    // MARK: The producer

    /// What the producer has to do after a chunk.
    enum Delivery: Equatable { case goOn, wait, stop }

    /// A chunk.
    /// - Returns: What the producer does, and whether libcurl has to be told.
    mutating func deliver(_ chunk: Data) -> (delivery: Delivery, wakesSender: Bool) {
        guard !isClosed, failure == nil else { return (.stop, false) }
        guard !chunk.isEmpty else { return (.goOn, false) }
        delivered += chunk.count
        if let length, delivered > length {
            return (.stop, fail(.bodyLengthMismatch(expected: length, got: "more")))
        }
        if let last = waiting.indices.last, waiting[last].count + chunk.count <= Self.joinedBytes {
            waiting[last].append(chunk)
        } else {
            waiting.append(chunk)
        }
        waitingBytes += chunk.count
        return (waitingBytes >= Self.highMark ? .wait : .goOn, wake())
    }

    /// Whether the producer has to wait.
    var needsRoom: Bool { !isClosed && waitingBytes > Self.lowMark }

    /// The producer has ended, well or not.
    /// - Returns: Whether libcurl has to be told.
    mutating func end(_ error: (any Error)?) -> Bool {
        guard !isClosed, failure == nil, !isComplete else { return false }
        if let error {
            failure = error
            return wake()
        }
        if let length, delivered < length { return fail(.bodyLengthMismatch(expected: length, got: "\(delivered)")) }
        isComplete = true
        return wake()
    }

    /// The body is sent again from its start.
    mutating func restart() {
        self = UploadState(length: length)
    }

    /// Nobody takes any more.
    mutating func close() {
        isClosed = true
        waiting = []
        waitingBytes = 0
    }

    private mutating func fail(_ error: NetworkError) -> Bool {
        failure = error
        return wake()
    }

    private mutating func wake() -> Bool {
        defer { isPaused = false }
        return isPaused
    }
}
