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
    /// Whether a line was longer than the limit. The buffer then ignores all further bytes.
    private(set) var isOverfull = false

    /// Creates a buffer.
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

    /// Returns the last line, if it has no terminator.
    mutating func last() -> [UInt8]? {
        defer { rest = [] }
        return rest.isEmpty || isOverfull ? nil : rest
    }

    /// Adds bytes to the line.
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
    /// Returns the error for a line longer than the limit.
    static func lineTooLong(_ number: Int, limit: Int) -> NetworkError {
        NetworkError(
            .lineTooLong,
            "line \(number) of the body is longer than the limit of \(limit) bytes",
            phase: .receiving
        )
    }
}
