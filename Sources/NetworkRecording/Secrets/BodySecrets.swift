import FoundationEssentials
import NetworkCore

/// Secrets in a body, by its Content-Type.
enum BodySecrets {
    /// What is recorded of a body.
    enum Verdict: Equatable {
        /// The body as it is.
        case unchanged
        /// The body with marks in place of secrets.
        case replaced([UInt8])
        /// Nothing: the body contains a secret, or may contain one that can't be found.
        case leftOut
    }

    /// The passes of the rules over one body.
    private static let maximumPasses = 4

    /// Returns what is recorded of a body. The same of what is recorded is ``Verdict/unchanged``: where the marks of
    /// one rule are secrets by another one (JSON that is sent as a form), the rules go over the body again.
    /// - Parameter fields: The header fields of its message.
    static func verdict(on body: Data, _ fields: HTTPFields) -> Verdict {
        guard !body.isEmpty else { return .unchanged }
        var bytes = [UInt8](body)
        for pass in 0..<maximumPasses {
            switch verdict(on: bytes, fields) {
            case .unchanged: return pass == 0 ? .unchanged : .replaced(bytes)
            case .replaced(let shown): bytes = shown
            case .leftOut: return .leftOut
            }
        }
        return .leftOut
    }

    /// Returns the verdict of one pass of the rules.
    private static func verdict(on bytes: [UInt8], _ fields: HTTPFields) -> Verdict {
        let types = fields[values: .contentType].compactMap { MediaType($0) }
        let isMultipart =
            fields[values: .contentType].contains { $0.lowercased().hasBytePrefix("multipart/") }
            || FormSecrets.looksLikeMultipart(bytes)
        if isMultipart {
            return isOpaque(bytes, fields, isText: false) || FormSecrets.multipartHoldsSecret(bytes)
                || TokenSecrets.redacted(bytes) != nil ? .leftOut : .unchanged
        }
        let isEvents =
            types.contains { $0.matches("text/event-stream") } || types.isEmpty && EventSecrets.looksLikeEvents(bytes)
        let isJSON = types.contains { $0.subtype.contains("json") } || looksLikeJSON(bytes)
        let isForm =
            types.contains { $0.matches("application/x-www-form-urlencoded") }
            || types.isEmpty && !isEvents && !isJSON && FormSecrets.looksLikeForm(bytes)
        let isText = isForm || isEvents || isJSON || !types.contains { medialTypes.contains($0.type) }
        guard isText else { return .unchanged }
        let isScanned = isForm || isEvents || isJSON || isCoded(bytes, fields, types)
        guard !isScanned || !isOpaque(bytes, fields, isText: true) else { return .leftOut }
        var shown: [UInt8]?
        if isForm { shown = FormSecrets.redacted(bytes) }
        if isEvents { shown = EventSecrets.redacted(shown ?? bytes) ?? shown }
        if isJSON || !isForm && !isEvents && holdsMember(bytes) {
            shown = JSONSecrets.redacted(shown ?? bytes) ?? shown
        }
        shown = TokenSecrets.redacted(shown ?? bytes) ?? shown
        return shown.map { .replaced($0) } ?? .unchanged
    }

    /// Whether a body of another type begins as JSON does, or as a guard against its use as a script.
    private static func looksLikeJSON(_ bytes: [UInt8]) -> Bool {
        let isMarked = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        let start = bytes.dropFirst(isMarked ? 3 : 0).drop { $0 <= 0x20 }
        return start.first.map { "{[\"".utf8.contains($0) } == true || start.starts(with: ")]}'".utf8)
    }

    /// Whether a text that is no JSON has a name and a colon, as in a script or a page.
    private static func holdsMember(_ bytes: [UInt8]) -> Bool {
        guard !bytes.contains(0) else { return false }
        return ["\":", "\" :"].contains { bytes.firstRange(of: $0.utf8) != nil }
    }

    /// The types of bodies that are no text, whatever their bytes look like.
    static let medialTypes: Set<String> = ["audio", "font", "image", "video"]

    /// Whether a body of another type may be a text that is compressed, or in UTF-16 or UTF-32.
    private static func isCoded(_ bytes: [UInt8], _ fields: HTTPFields, _ types: [MediaType]) -> Bool {
        if fields.contains(.contentEncoding) || marks.contains(where: { bytes.starts(with: $0) }) { return true }
        if looksWide(bytes) || types.contains(where: { isWide($0) }) { return true }
        let isFile = types.contains { $0.type == "application" }
        return !isFile && isCompressed(bytes)
    }

    /// The byte order marks of UTF-16 and UTF-32.
    private static let marks: [[UInt8]] = [[0xFF, 0xFE], [0xFE, 0xFF], [0, 0, 0xFE, 0xFF]]

    static func isWide(_ type: MediaType) -> Bool {
        let name = type.parameters["charset"]?.lowercased() ?? ""
        return ["utf-16", "utf16", "utf-32", "utf32", "ucs-2", "ucs2"].contains { name.hasPrefix($0) }
    }

    /// Whether a text has ASCII characters of two bytes or four, as in UTF-16 and UTF-32 without a byte order mark.
    static func looksWide(_ text: some Collection<UInt8>) -> Bool {
        let start = Array(text.prefix(256))
        return [2, 4].contains { width in
            let units = start.count / width
            return units >= 4
                && [0, width - 1].contains { place in
                    var narrow = 0
                    return (0..<units).allSatisfy { unit in
                        let isWide = (0..<width).allSatisfy { offset in
                            let byte = start[unit * width + offset]
                            return offset == place ? (0x09..<0x7F).contains(byte) : byte == 0
                        }
                        if !isWide { narrow += 1 }
                        return narrow * 8 <= units
                    }
                }
        }
    }

    /// Whether a body begins as gzip (RFC 1952 §2.3.1) or Zstandard (RFC 8878 §3.1.1) does.
    private static func isCompressed(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: [0x1F, 0x8B, 8]) || bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
    }

    /// Whether a body is compressed, or in another encoding than UTF-8, so that no scanner finds anything in it.
    private static func isOpaque(_ bytes: [UInt8], _ fields: HTTPFields, isText: Bool) -> Bool {
        if isText, bytes.contains(0) || isCompressed(bytes) { return true }
        // Nearly always UTF-8 after decompression, whatever the field says.
        guard fields.contains(.contentEncoding) else { return false }
        return isText ? !isUTF8(bytes) : !bytes.starts(with: "--".utf8)
    }

    /// Whether the bytes are UTF-8, except that the last character may be cut.
    private static func isUTF8(_ bytes: [UInt8]) -> Bool {
        (0...3).contains { String(validating: bytes.dropLast($0), as: UTF8.self) != nil }
    }
}
