import FoundationEssentials
import NetworkCore

/// Secrets in a body with a structure: JSON, lines of JSON, forms and event streams.
enum BodySecrets {
    /// What is recorded of a body.
    enum Verdict: Equatable {
        /// The body as it is.
        case unchanged
        /// The body with marks in place of secrets.
        case replaced([UInt8])
        /// Nothing: the body has no structure in which secrets have names.
        case leftOut
    }

    /// Returns what is recorded of a body with the header fields of its message.
    static func verdict(on body: Data, _ fields: HTTPFields) -> Verdict {
        guard !body.isEmpty else { return .unchanged }
        let bytes = [UInt8](body)
        let types = fields[values: .contentType].compactMap { MediaType($0) }
        if types.contains(where: { $0.subtype.contains("json") }) { return JSONSecrets.verdict(on: bytes) }
        if types.contains(where: { $0.matches("application/x-www-form-urlencoded") }) { return form(bytes) }
        if types.contains(where: { $0.matches("text/event-stream") }) { return events(bytes) }
        let start = bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0).first { $0 > 0x20 }
        // Servers give JSON the type of a text, or none.
        let maySayJSON = types.allSatisfy { $0.type == "text" || $0.subtype.hasSuffix("javascript") }
        let looksLikeJSON = maySayJSON && (start == UInt8(ascii: "{") || start == UInt8(ascii: "["))
        return looksLikeJSON ? JSONSecrets.verdict(on: bytes) : .leftOut
    }

    /// Whether the bytes are a text, and neither compressed nor in UTF-16. The last character may be cut.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        bytes.allSatisfy { $0 >= 0x20 || [0x09, 0x0A, 0x0D].contains($0) }
            && (0...3).contains { String(validating: bytes.dropLast($0), as: UTF8.self) != nil }
    }

    /// Replaces the values that have a secret name or contain a secret. They are often typed by hand, without escapes.
    private static func form(_ bytes: [UInt8]) -> Verdict {
        guard isText(bytes) else { return .leftOut }
        var (output, isChanged) = ([UInt8](), false)
        for (index, pair) in bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).enumerated() {
            if index > 0 { output.append(UInt8(ascii: "&")) }
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            let value = pair.dropFirst(name.count + 1)
            let isSecret =
                SecretName.isSecret(encoded: name)
                || TextSecrets.redacted(
                    PercentEncoding.decodedWholly(value.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 })) != nil
            guard isSecret, !value.isEmpty, !value.elementsEqual(SecretMark.bytes) else {
                output += pair
                continue
            }
            output += pair.prefix(name.count + 1) + SecretMark.bytes
            isChanged = true
        }
        return isChanged ? .replaced(output) : .unchanged
    }

    /// Replaces the data of events (HTML Standard §9.2.6): JSON, or a value like that of a header field.
    private static func events(_ bytes: [UInt8]) -> Verdict {
        guard isText(bytes) else { return .leftOut }
        var (output, event, isChanged) = ([UInt8](), [ArraySlice<UInt8>](), false)
        for line in lines(of: bytes) + [[]] {
            event.append(line)
            // An event ends with a blank line; a stream that was cut has another end.
            guard line.allSatisfy({ $0 == 0x0A || $0 == 0x0D }) else { continue }
            switch data(of: event) {
            case .unchanged: output += event.joined()
            case .leftOut: return .leftOut
            case .replaced(let shown):
                isChanged = true
                output += replacing(event, by: shown)
            }
            event = []
        }
        return isChanged ? .replaced(output) : .unchanged
    }

    private static let dataName = Array("data:".utf8)

    /// Returns the verdict on the data of an event, whose lines are one text.
    private static func data(of event: [ArraySlice<UInt8>]) -> Verdict {
        let lines = event.filter { $0.starts(with: dataName) }.map { line in
            let value = line.dropFirst(dataName.count).prefix { $0 != 0x0A && $0 != 0x0D }
            return value.first == 0x20 ? value.dropFirst() : value
        }
        let text = Array(lines.joined(separator: [0x0A]))
        let verdict = JSONSecrets.verdict(on: text)
        // A quote is a sign of JSON, in which secrets may have names.
        guard verdict == .leftOut, !text.contains(UInt8(ascii: "\"")) else { return verdict }
        return TextSecrets.redacted(text).map { .replaced($0) } ?? .unchanged
    }

    /// Returns an event with other data in place of its first line of data.
    private static func replacing(_ event: [ArraySlice<UInt8>], by data: [UInt8]) -> [UInt8] {
        var (output, isGiven) = ([UInt8](), false)
        for line in event {
            guard line.starts(with: dataName) else {
                output += line
                continue
            }
            if isGiven { continue }
            isGiven = true
            let end = line.drop { $0 != 0x0A && $0 != 0x0D }
            let pieces = data.split(separator: 0x0A, omittingEmptySubsequences: false).map { dataName + [0x20] + $0 }
            output += pieces.joined(separator: end.isEmpty ? [0x0A] : Array(end)) + end
        }
        return output
    }

    /// Returns the lines with their ends: LF, CR, or both.
    private static func lines(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var (lines, start) = ([ArraySlice<UInt8>](), 0)
        for index in bytes.indices where bytes[index] == 0x0A || bytes[index] == 0x0D {
            if bytes[index] == 0x0D, index + 1 < bytes.count, bytes[index + 1] == 0x0A { continue }
            lines.append(bytes[start...index])
            start = index + 1
        }
        return start < bytes.count ? lines + [bytes[start...]] : lines
    }
}
