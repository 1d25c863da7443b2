import FoundationEssentials
import NetworkCore

/// The flow of a streamed request body from its producer to libcurl. Pure: an event returns what to do.
struct UploadState {
    /// The producer waits once this many bytes wait, and resumes when at most ``lowMark`` are left.
    static let highMark = 1024 * 1024
    static let lowMark = 256 * 1024

    /// The largest start of a one-time stream that is kept to be sent again, in bytes.
    static let keptStart = 64 * 1024

    /// Small chunks are joined up to this many bytes, so that few wait and each is worth its overhead.
    private static let joinedBytes = 16 * 1024

    private let length: Int?
    /// The waiting chunks. There are few: two in a row are together larger than ``joinedBytes``.
    private var waiting: [Data] = []
    private var waitingBytes = 0
    /// Whether the last of them is memory of the flow's own, and not a caller's.
    private var ownsLast = false
    /// A chunk that a joined one has replaced, for the caller of ``deliver(_:)`` to take: its memory may run a caller's
    /// code when it goes.
    var replaced: Data?
    /// The number of bytes that the producer has delivered since the start.
    private var delivered = 0
    private var isComplete = false
    private var failure: (any Error)?
    /// Whether libcurl found no bytes and must be notified when there are some.
    private var isPaused = false
    private(set) var isClosed = false
    /// What libcurl has taken, while that is all of it; `nil` once it is too long, or for a stream that can be produced
    /// again.
    private var taken: [Data]?
    private var takenBytes = 0
    /// A start that is no longer kept, for the caller of ``take(_:pauses:)`` to take, as ``replaced`` is.
    var released: [Data]?

    /// - Parameter keepsStart: Whether the stream can't be produced again.
    init(length: Int?, keepsStart: Bool = false) {
        self.length = length
        taken = keepsStart ? [] : nil
    }

    // MARK: libcurl

    /// What libcurl gets.
    enum Taking {
        case bytes(Data)
        case nothingYet
        case end
        case failed(any Error)
    }

    /// The number of waiting bytes that libcurl may have. Of a body with a length the last ones wait for the producer's
    /// end: libcurl does not ask again once it has them all, and an error or a surplus after them would be lost.
    private var sendableBytes: Int {
        guard isDelivered, !isComplete, let last = waiting.last else { return waitingBytes }
        return waitingBytes - min(last.count, Self.joinedBytes)
    }

    /// Whether the producer has delivered as many bytes as the body has.
    private var isDelivered: Bool { delivered == length }

    /// Takes at most `count` bytes.
    /// - Parameter pauses: Whether libcurl, given no bytes, waits for a notification.
    /// - Returns: The bytes, and whether the producer may continue.
    mutating func take(_ count: Int, pauses: Bool = true) -> (taking: Taking, wakesProducer: Bool) {
        // A closed body has lost its bytes, so its end would be that of a body cut short.
        if isClosed { return (.failed(NetworkError.cancelled), false) }
        if let failure { return (.failed(failure), false) }
        let count = min(count, sendableBytes)
        if count > 0, let first = waiting.first {
            let piece = first.prefix(count)
            if piece.count == first.count {
                waiting.removeFirst()
            } else {
                waiting[0] = first.dropFirst(piece.count)
            }
            keep(piece)
            let before = waitingBytes
            waitingBytes -= piece.count
            return (.bytes(piece), before > Self.lowMark && waitingBytes <= Self.lowMark)
        }
        if isComplete { return (.end, false) }
        isPaused = pauses
        return (.nothingYet, true)
    }

    private mutating func keep(_ piece: Data) {
        guard taken != nil else { return }
        takenBytes += piece.count
        if takenBytes <= Self.keptStart { taken?.append(piece) } else { released = taken.take() }
    }

    /// Lets libcurl take what it has taken once more, if that was kept.
    /// - Returns: Whether it was.
    mutating func rewind() -> Bool {
        guard let start = taken, !isClosed else { return false }
        waiting = start + waiting
        waitingBytes += takenBytes
        (taken, takenBytes) = ([], 0)
        ownsLast = ownsLast && !waiting.isEmpty && waiting.count > start.count
        return true
    }

    // MARK: The producer

    /// What the producer does after a chunk.
    enum Delivery: Equatable { case proceed, wait, stop }

    /// Adds a chunk.
    /// - Returns: What the producer does next, and whether to notify libcurl.
    mutating func deliver(_ chunk: Data) -> (delivery: Delivery, wakesSender: Bool) {
        guard !isClosed, failure == nil else { return (.stop, false) }
        guard !chunk.isEmpty else { return (.proceed, false) }
        delivered += chunk.count
        if let length, delivered > length {
            return (.stop, fail(.bodyLengthMismatch(expected: length, got: "more")))
        }
        if let last = waiting.indices.last, waiting[last].count + chunk.count <= Self.joinedBytes {
            if !ownsLast {
                var joined = Data()
                joined.append(waiting[last])
                replaced = waiting[last]
                (waiting[last], ownsLast) = (joined, true)
            }
            waiting[last].append(chunk)
        } else {
            waiting.append(chunk)
            ownsLast = false
        }
        waitingBytes += chunk.count
        // After the last byte nothing but the end is to come.
        let waits = waitingBytes >= Self.highMark && !isDelivered
        return (waits ? .wait : .proceed, sendableBytes > 0 && wake())
    }

    /// Whether the producer has to wait.
    var needsRoom: Bool { !isClosed && waitingBytes > Self.lowMark && !isDelivered }

    /// Records that the producer has ended, with or without an error.
    /// - Returns: Whether to notify libcurl.
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

    /// Restarts the body, which is sent again.
    mutating func restart() {
        let wasClosed = isClosed
        self = UploadState(length: length)
        isClosed = wasClosed
    }

    /// Closes the flow: nothing takes chunks any more.
    mutating func close() {
        isClosed = true
        (waiting, waitingBytes, taken) = ([], 0, nil)
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
