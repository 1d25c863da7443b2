import FoundationEssentials

/// The lines of a body that is arriving, as bytes with their numbers.
struct BodyLines {
    private let arrival: Arrival
    private let limit: Int
    private var chunks: TransportResponse.Body.AsyncIterator
    private var buffer: LineBuffer
    private var ready: [[UInt8]] = []
    /// The bytes that have arrived and are not divided yet: a chunk may be as large as a whole body.
    private var uncut = Data()
    private static let cutBytes = 65_536
    private var isAtEnd = false
    /// The number of the last line that was returned, from 1.
    private(set) var number = 0

    init(_ arrival: Arrival, endingWith terminator: LineBuffer.Terminator, limit: Int) {
        self.arrival = arrival
        self.limit = limit
        chunks = arrival.incoming.body.makeAsyncIterator()
        buffer = LineBuffer(endingWith: terminator, limit: limit)
    }

    /// Returns the next line; `nil` at the end.
    mutating func next() async throws -> [UInt8]? {
        while true {
            if ready.isEmpty, isAtEnd { return nil }
            do {
                try arrival.call.check(while: .receiving)
                if let line = ready.popLast() {
                    number += 1
                    return line
                }
                try await fill()
            } catch {
                // A second reader is refused, and the exchange is the first one's.
                if NetworkError.code(of: error) == .bodyAlreadyRead { isAtEnd = true } else { await end() }
                throw NetworkError.thrown(arrival.naming(error))
            }
        }
    }

    /// Ends the sequence before the body does, and the exchange with it: the caller may hold the response for a long
    /// time.
    mutating func end() async {
        isAtEnd = true
        ready = []
        await arrival.incoming.end()
    }

    private mutating func fill() async throws {
        if buffer.isOverfull { throw NetworkError.lineTooLong(number + 1, limit: limit) }
        if uncut.isEmpty {
            guard let chunk = try await chunks.next() else {
                isAtEnd = true
                ready = buffer.last().map { [$0] } ?? []
                return
            }
            uncut = chunk
        }
        ready = buffer.lines(in: uncut.prefix(Self.cutBytes)).reversed()
        uncut = uncut.dropFirst(Self.cutBytes)
    }
}
