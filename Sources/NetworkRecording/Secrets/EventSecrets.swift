/// Secrets in an event stream (HTML Standard §9.2.6). The data of an event may be JSON over several lines, with lines
/// of other fields and comments between them.
enum EventSecrets {
    /// Returns whether a body of no known type begins as an event stream does.
    static func looksLikeEvents(_ bytes: [UInt8]) -> Bool {
        let start = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0).drop { $0 == 0x0A || $0 == 0x0D }
        return ["data:", "event:", "id:", "retry:", ":"].contains { start.starts(with: $0.utf8) }
    }

    /// Returns the stream without its secrets, or `nil` if it contains none. A line of data stays a line of data: what
    /// a mark replaces in further lines is removed from them.
    static func redacted(_ stream: [UInt8]) -> [UInt8]? {
        let lines = lines(of: stream)
        let replacements = [true, false].flatMap { isData in
            Part(lines.filter { $0.isData == isData }.map(\.shown), of: stream).replacements
        }
        let shown = replacements.sorted { $0.range.lowerBound < $1.range.lowerBound }.applied(to: stream)
        return withoutSecretTexts(shown ?? stream) ?? shown
    }

    /// Returns the stream without the secrets of the lines of data that are no JSON, or `nil` if it contains none.
    private static func withoutSecretTexts(_ stream: [UInt8]) -> [UInt8]? {
        lines(of: stream).compactMap { line -> JSONSecrets.Replacement? in
            let text = stream[line.shown].drop { $0 == 0x20 }.prefix { $0 != 0x0A && $0 != 0x0D }
            guard line.isData, !text.contains(UInt8(ascii: "\"")) else { return nil }
            return TextSecrets.redacted(Array(text)).map { .init(range: text.indices, mark: $0) }
        }.applied(to: stream)
    }

    private struct Line {
        let isData: Bool
        /// The value of a line of data, and the whole of another line, both with their line end.
        let shown: Range<Int>
    }

    private static let name = Array("data:".utf8)
    /// The byte order mark of UTF-8, which a stream may begin with.
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private static func lines(of stream: [UInt8]) -> [Line] {
        let isMarked = stream.starts(with: mark)
        var (lines, start) = ([Line](), isMarked ? mark.count : 0)
        while start < stream.count {
            let end = stream[start...].firstIndex { $0 == 0x0A || $0 == 0x0D }.map { $0 + 1 } ?? stream.count
            let isData = stream[start..<end].starts(with: name)
            lines.append(Line(isData: isData, shown: (isData ? start + name.count : start)..<end))
            start = end
        }
        return lines
    }

    /// Some ranges of a stream as one text.
    private struct Part {
        /// What takes the place of the secrets, as ranges of the stream.
        private(set) var replacements: [JSONSecrets.Replacement] = []

        init(_ ranges: [Range<Int>], of stream: [UInt8]) {
            var text: [UInt8] = []
            // The offsets of the ranges in the text.
            var starts: [Int] = []
            for range in ranges {
                starts.append(text.count)
                text += stream[range]
            }
            var line = 0
            for replacement in JSONSecrets.replacements(in: text) {
                while line + 1 < starts.count, starts[line + 1] <= replacement.range.lowerBound { line += 1 }
                var (at, mark) = (replacement.range.lowerBound, replacement.mark)
                for other in ranges.indices[line...] where starts[other] < replacement.range.upperBound {
                    let length = min(replacement.range.upperBound - starts[other], ranges[other].count)
                    let place = ranges[other].lowerBound + (at - starts[other])
                    var end = ranges[other].lowerBound + length
                    // The line's own end stays.
                    while end > place, stream[end - 1] == 0x0A || stream[end - 1] == 0x0D { end -= 1 }
                    replacements.append(JSONSecrets.Replacement(range: place..<end, mark: mark))
                    (at, mark) = (starts[other] + ranges[other].count, [])
                    if replacement.range.upperBound <= at { break }
                }
            }
        }
    }
}
