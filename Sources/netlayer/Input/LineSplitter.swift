/// Cuts a stream of bytes into lines, none longer than a limit.
struct LineSplitter {
    /// One line without its line end.
    struct Line: Sendable, Equatable {
        /// Counted from 1, blank lines included.
        var number: Int
        /// `nil` for a line above the limit.
        var bytes: [UInt8]?
    }

    private let limit: Int
    private var number = 1
    private var pending: [UInt8] = []
    private var isTooLong = false

    init(limit: Int) { self.limit = limit }

    /// The lines that end in this chunk. Blank ones are left out.
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

    /// The last line, if the stream does not end with a line end.
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
