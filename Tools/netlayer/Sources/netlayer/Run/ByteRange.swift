import JSONText
import NetworkLayer

/// The value of the `range` option.
enum ByteRange {
    /// Returns the value of the Range field for `0-499`, `500-`, `-500`, or a list of them, with or without `bytes=`.
    /// - Throws: ``NetworkError/Code/invalidOption`` for anything else.
    static func fieldValue(_ text: String) throws -> String {
        let ranges = text.hasPrefix("bytes=") ? text.dropFirst(6) : text[...]
        for part in ranges.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            let numbers = ends.map { end in
                end.utf8.allSatisfy { (0x30...0x39).contains($0) } ? (end.isEmpty ? nil : UInt64(end)) : nil
            }
            let isComplete = ends.count == 2 && zip(ends, numbers).allSatisfy { $0.isEmpty == ($1 == nil) }
            guard isComplete, numbers.contains(where: { $0 != nil }) else { throw invalid(text) }
            if let first = numbers[0], let last = numbers[1], first > last { throw invalid(text) }
        }
        return "bytes=\(ranges)"
    }

    private static func invalid(_ text: String) -> NetworkError {
        NetworkError(
            .invalidOption,
            "the option 'range' is '\(text.shown)'; it takes '0-499', '500-', '-500', or a list of them",
            phase: .preparing
        )
    }
}

extension TransportRequest {
    /// Requests a part of the body, in the format of ``ByteRange``.
    /// - Throws: ``NetworkError/Code/invalidOption`` for an invalid range, or if the request has a Range field already.
    mutating func ask(forPart range: String) throws {
        guard !headerFields.contains(.range) else {
            throw NetworkError(
                .invalidOption,
                "the option 'range' and the header field 'Range' exclude one another",
                phase: .preparing
            )
        }
        headerFields[.range] = try ByteRange.fieldValue(range)
        // A part of a compressed body can't be decompressed.
        if !headerFields.contains(.acceptEncoding) { headerFields[.acceptEncoding] = "identity" }
    }
}
