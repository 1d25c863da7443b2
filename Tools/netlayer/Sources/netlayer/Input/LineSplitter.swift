/// Splits a stream of bytes into lines, with a limit on their length.
struct LineSplitter {
    /// A line without its line ending.
    struct Line: Sendable, Equatable {
        /// The number of the line, from 1, blank lines included.
        var number: Int
        /// The bytes of the line; `nil` if it is longer than the limit.
        var bytes: [UInt8]?
    }

    private let limit: Int
    private var number = 1
    private var pending: [UInt8] = []
    private var isTooLong = false

    init(limit: Int) { self.limit = limit }

    /// Returns the lines that end in this chunk, without blank lines.
    mutating func lines(in chunk: [UInt8]) -> [Line] {
        var lines: [Line] = []
        var rest = chunk[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            keep(rest[..<end])
            if let line = close() { lines.append(line) }
            number += 1
            rest = rest[(end + 1)...]
        }
        keep(rest)
        return lines
    }

    /// Returns the last line if the stream does not end with a line ending.
    mutating func last() -> Line? { close() }

    private mutating func keep(_ part: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        guard part.count <= limit - pending.count else {
            isTooLong = true
            pending = []
            return
        }
        pending += part
    }

    private mutating func close() -> Line? {
        defer {
            pending = []
            isTooLong = false
        }
        if isTooLong { return Line(number: number, bytes: nil) }
        let isBlank = pending.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        return isBlank ? nil : Line(number: number, bytes: pending)
    }
}
