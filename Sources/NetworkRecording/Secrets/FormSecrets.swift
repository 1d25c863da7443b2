import NetworkCore

/// Secrets in a form: `application/x-www-form-urlencoded` and `multipart/form-data`.
enum FormSecrets {
    /// Returns a form without the values of its secret fields, or `nil` if it contains none. A part without a value
    /// that is one when it is decoded is left out.
    /// - Parameter depth: The levels of texts within its values that are looked into.
    static func redacted(_ form: [UInt8], depth: Int = TextSecrets.maximumDepth) -> [UInt8]? {
        var (output, isChanged) = ([UInt8](), false)
        for (index, pair) in form.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).enumerated() {
            if index > 0 { output.append(UInt8(ascii: "&")) }
            let nameEnd = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = pair[..<nameEnd]
            if name.contains(UInt8(ascii: "%")), URLSecrets.holdsSecret(name, depth: depth) {
                output += SecretMark.bytes
                isChanged = true
                continue
            }
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")), case let value = pair[(equals + 1)...],
                !value.isEmpty, !value.elementsEqual(SecretMark.bytes),
                SecretName.isSecret(encoded: name) || URLSecrets.holdsSecret(value, depth: depth)
            else {
                output += pair
                continue
            }
            output += pair[...equals]
            output += SecretMark.bytes
            isChanged = true
        }
        return isChanged ? output : nil
    }

    /// Returns whether a body without a type of its own is a multipart one.
    static func looksLikeMultipart(_ body: [UInt8]) -> Bool {
        guard body.starts(with: "--".utf8) else { return false }
        let field = Array("content-disposition:".utf8)
        return body.indices.contains { index in
            body[index] | 0x20 == field[0] && body.count - index >= field.count
                && zip(body[index...], field).allSatisfy { $0 | 0x20 == $1 }
        }
    }

    /// Returns whether a multipart body has a part with a secret name, or with JSON, a form, a URL, a header field or a
    /// value of `Authorization` that contains a secret.
    ///
    /// Every `name=` counts, wherever it is: the boundary need not be right for that.
    static func multipartHoldsSecret(_ body: [UInt8]) -> Bool {
        for index in body.indices where body[index] | 0x20 == UInt8(ascii: "n") {
            if let start = valueStart(of: index, in: body), isSecretName(body[start...].prefix(longestName)) {
                return true
            }
        }
        for line in body.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            if looksLikeForm(line), redacted(Array(line)) != nil { return true }
            let isText = line.allSatisfy { (0x20..<0x7F).contains($0) || $0 == 0x09 }
            if isText, TextSecrets.redacted(Array(line)) != nil { return true }
            // A part may be a message with a head.
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            let value = line.dropFirst(name.count + 1).drop { $0 <= 0x20 }
            if isText, !value.isEmpty, name.allSatisfy({ $0 > 0x20 }), SecretName.isSecret(name) { return true }
            if Redaction.namesCredentials(line) || Redaction.namesCredentials(value) { return true }
        }
        return hasCodedPart(body) || JSONSecrets.redacted(body) != nil
    }

    /// Whether a multipart body has a part in Base64 or quoted-printable (RFC 2045 §6), or in UTF-16 or UTF-32: in
    /// neither anything can be found.
    private static func hasCodedPart(_ body: [UInt8]) -> Bool {
        // Whether a type of the head that is read is medial, and whether a part has begun whose head is read.
        var (isMedial, isInHead, start) = (false, true, 0)
        while start < body.count {
            let end = body[start...].firstIndex(of: 0x0A) ?? body.count
            let line = body[start..<end].last == 0x0D ? body[start..<end].dropLast() : body[start..<end]
            start = end + 1
            if line.isEmpty {
                if isInHead, !isMedial, beginsWide(body[min(start, body.count)...]) { return true }
                (isMedial, isInHead) = (false, false)
            } else if line.starts(with: "--".utf8) {
                (isMedial, isInHead) = (false, true)
            } else if line.count < longestName, line.first.map({ $0 | 0x20 }) == UInt8(ascii: "c") {
                let text = String(decoding: line, as: UTF8.self)
                let halves = text.split(atByte: UInt8(ascii: ":"), maximumSplits: 1).map(\.withoutBlanks)
                guard halves.count == 2, case let value = halves[1] else { continue }
                switch halves[0].lowercased() {
                case "content-transfer-encoding":
                    // Without a value in its line, the field goes on in the next one.
                    if ["", "base64", "quoted-printable"].contains(value.lowercased()) { return true }
                case "content-type":
                    guard let type = MediaType(String(value)) else { continue }
                    if BodySecrets.isWide(type) { return true }
                    if BodySecrets.medialTypes.contains(type.type) { isMedial = true }
                default: break
                }
            }
        }
        return false
    }

    /// Whether a part of a multipart body is in UTF-16 or UTF-32.
    private static func beginsWide(_ rest: ArraySlice<UInt8>) -> Bool {
        let start = rest.prefix(256)
        // A body may have a head at every other of its lines.
        guard start.prefix(8).contains(0) else { return false }
        let end = start.firstRange(of: Array("\n--".utf8))?.lowerBound ?? start.endIndex
        return BodySecrets.looksWide(start[..<end])
    }

    /// Whether a text begins with a name and `=`, as a form does. Its values may contain what a form would escape: they
    /// are often typed by hand.
    static func looksLikeForm(_ text: some Collection<UInt8>) -> Bool {
        guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else { return false }
        return text[..<equals].drop { $0 == 0x20 || $0 == 0x09 }.allSatisfy { (0x21..<0x7F).contains($0) }
    }

    /// Whether a short text is a form, and not a URL or a list of parameters, whose own rule says where values end.
    static func isForm(_ text: [UInt8]) -> Bool {
        guard looksLikeForm(text), let equals = text.firstIndex(of: UInt8(ascii: "=")) else { return false }
        return !text[..<equals].contains { ":/?#<;\"".utf8.contains($0) }
    }

    private static let longestName = 256

    /// Returns the offset after `name=` or `name*=`, with any blanks in it, if that is at an index.
    private static func valueStart(of index: Int, in body: [UInt8]) -> Int? {
        let word = "name".utf8
        guard index > 0, isBefore(body[index - 1]), body.count - index > word.count,
            zip(body[index...], word).allSatisfy({ $0 | 0x20 == $1 })
        else { return nil }
        var next = index + word.count
        if body[next] == UInt8(ascii: "*") { next += 1 }
        let blanks = body[next...].prefix(8).prefix { $0 == 0x20 || $0 == 0x09 }
        next = blanks.endIndex
        guard next < body.count, body[next] == UInt8(ascii: "=") else { return nil }
        return body[(next + 1)...].prefix(8).prefix { $0 == 0x20 || $0 == 0x09 }.endIndex
    }

    private static func isBefore(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == UInt8(ascii: ";") }

    private static func isSecretName(_ text: ArraySlice<UInt8>) -> Bool {
        let isQuoted = text.first == UInt8(ascii: "\"")
        var isEscaped = false
        let name = text.dropFirst(isQuoted ? 1 : 0).prefix { byte in
            guard isQuoted else { return byte > 0x20 && byte != UInt8(ascii: ";") }
            defer { isEscaped = byte == UInt8(ascii: "\\") && !isEscaped }
            return isEscaped || byte != UInt8(ascii: "\"") && byte >= 0x20
        }
        // Of a name without an end, the rest is not known.
        return name.count >= longestName - 1 || SecretName.isSecret(encoded: name)
    }
}
