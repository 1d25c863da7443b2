/// The lines of a body on its way, as bytes with their numbers.
struct BodyLines {
    private let arrival: Arrival
    private let limit: Int
    private var chunks: ResponseBody.AsyncIterator
    private var buffer: LineBuffer
    private var ready: [[UInt8]] = []
    private var isAtEnd = false
    /// The number of the line that was handed out last, from 1.
    private(set) var number = 0

    init(_ arrival: Arrival, endingWith terminator: LineBuffer.Terminator, limit: Int) {
        self.arrival = arrival
        self.limit = limit
        chunks = arrival.incoming.body.makeAsyncIterator()
        buffer = LineBuffer(endingWith: terminator, limit: limit)
    }

    /// - Throws: ``NetworkError/Code/lineTooLong``, the transport's errors, each with its exchange.
    mutating func next() async throws -> [UInt8]? {
        while true {
            if let line = ready.popLast() {
                number += 1
                return line
            }
            if isAtEnd { return nil }
            do {
                try await fill()
            } catch {
                isAtEnd = true
                throw arrival.naming(error)
            }
        }
    }

    private mutating func fill() async throws {
        if buffer.isOverfull { throw NetworkError.lineTooLong(number + 1, limit: limit) }
        if let chunk = try await chunks.next() {
            ready = buffer.lines(in: chunk).reversed()
        } else {
            isAtEnd = true
            ready = buffer.last().map { [$0] } ?? []
        }
    }
}
