import FoundationEssentials

/// A divider of chunks of bytes into lines, whatever the borders of the chunks.
struct LineBuffer: Sendable, SafelyPrinted {
    enum Terminator: Sendable {
        /// LF, CR, or CR followed by LF.
        case any
        /// LF alone; a CR before it belongs to the line.
        case lineFeed
    }

    private let terminator: Terminator
    private let limit: Int
    private var rest: [UInt8] = []
    private var skipsLineFeed = false
    private(set) var isOverfull = false

    init(endingWith terminator: Terminator = .any, limit: Int) {
        self.terminator = terminator
        self.limit = limit
    }

    /// Returns the lines that a chunk completes, without their terminators.
    mutating func lines(in chunk: Data) -> [[UInt8]] {
        guard !isOverfull else { return [] }
        let bytes = [UInt8](chunk)
        var lines: [[UInt8]] = []
        var start = 0
        if skipsLineFeed, let first = bytes.first {
            skipsLineFeed = false
            if first == UInt8(ascii: "\n") { start = 1 }
        }
        while let end = bytes[start...].firstIndex(where: isTerminator) {
            guard hold(bytes[start..<end]) else { return lines }
            lines.append(rest)
            rest = []
            start = end + 1
            guard bytes[end] == UInt8(ascii: "\r") else { continue }
            if start == bytes.count {
                skipsLineFeed = true
            } else if bytes[start] == UInt8(ascii: "\n") {
                start += 1
            }
        }
        _ = hold(bytes[start...])
        return lines
    }

    private func isTerminator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") && terminator == .any
    }

    mutating func last() -> [UInt8]? {
        defer { rest = [] }
        return rest.isEmpty || isOverfull ? nil : rest
    }

    private mutating func hold(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard rest.count + bytes.count <= limit else {
            isOverfull = true
            rest = []
            return false
        }
        rest += bytes
        return true
    }
}

extension NetworkError {
    static func lineTooLong(_ number: Int, limit: Int) -> NetworkError {
        NetworkError(
            .lineTooLong,
            "line \(number) of the body is longer than the limit of \(limit) bytes",
            phase: .receiving
        )
    }
}

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
    private(set) var number = 0

    init(_ arrival: Arrival, endingWith terminator: LineBuffer.Terminator, limit: Int) {
        self.arrival = arrival
        self.limit = limit
        chunks = arrival.incoming.body.makeAsyncIterator()
        buffer = LineBuffer(endingWith: terminator, limit: limit)
    }

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
