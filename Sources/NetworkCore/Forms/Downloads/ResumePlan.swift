import HTTPTypes

/// What to ask for when a part of a file is here already, and what to make of the answer. Pure: it touches no file.
struct ResumePlan: Sendable {
    /// What is here.
    private let record: PartialRecord?
    private let length: Int

    /// - Parameters:
    ///   - length: The bytes that are here.
    ///   - record: What they are a part of; `nil` if that is not known, or nobody wants to go on with them.
    init(length: Int, record: PartialRecord?) {
        self.length = length
        self.record = length > 0 ? record : nil
    }

    /// Whether the rest alone is asked for.
    var asksForRest: Bool { record != nil }

    /// Asks for the rest, if the server still has the same (RFC 9110 §13.1.5, §14.2).
    func apply(to request: inout TransportRequest) {
        guard let record else { return }
        request.headerFields[.range] = "bytes=\(length)-"
        request.headerFields[.ifRange] = record.validator
    }

    /// What to do with an answer.
    enum Reaction: Equatable {
        /// Its body is the rest of the file.
        case append(total: Int?)
        /// Its body is the whole file, if the status is accepted at all.
        case writeWhole
        /// Nothing is missing.
        case isComplete
        /// What is here can't be used: delete it, and ask again without a range.
        case startAgain
    }

    /// The head of the answer.
    func reaction(to head: HTTPResponse) -> Reaction {
        guard let record else { return .writeWhole }
        let range = head.headerFields[.contentRange].flatMap { ContentRange($0) }
        switch head.status.code {
        case 206:
            guard let range, range.first == length, head.headerFields[.contentEncoding] == nil,
                record.total == nil || range.total == nil || range.total == record.total,
                isOfTheSame(head, record), !isOfAnother(head, record),
                // The rest that was asked for, and not a piece of it; where nobody says the length, it may be one.
                let total = range.total ?? record.total, range.last == total - 1
            else { return .startAgain }
            return .append(total: total)
        case 416:
            // Nothing lies behind the last byte: the file was complete when it was interrupted.
            let isWhole = range?.first == nil && range?.total == length && record.total == length
            return isWhole && !isOfAnother(head, record) ? .isComplete : .startAgain
        default: return .writeWhole
        }
    }
}

extension ResumePlan {
    /// Whether a part has the entity tag that the whole has, if that has one: it must be in the part too, and the date
    /// need not be (RFC 9110 §15.3.7).
    private func isOfTheSame(_ head: HTTPResponse, _ record: PartialRecord) -> Bool {
        record.hasTag == head.headerFields.contains(.eTag)
    }

    /// Whether something in the answer contradicts the record's validator.
    private func isOfAnother(_ head: HTTPResponse, _ record: PartialRecord) -> Bool {
        let field: HTTPField.Name = record.hasTag ? .eTag : .lastModified
        return head.headerFields[field].map { !$0.hasSameBytes(as: record.validator) } ?? false
    }

    /// The 200 for which a part stands, or the answer that nothing is missing: what a ``ResponseValidation`` judges.
    ///
    /// A part may leave out what the first answer said (RFC 9110 §15.3.7), and the page of a 416 is no part of the
    /// file.
    func whole(of head: HTTPResponse) -> HTTPResponse {
        var whole = head
        whole.status = .ok
        let total = head.headerFields[.contentRange].flatMap { ContentRange($0) }?.total ?? record?.total
        let isPart = head.status == .partialContent
        whole.headerFields.removeAll { field in
            field.name == .contentRange || !isPart && field.name.canonicalName.hasPrefix("content-")
        }
        if !whole.headerFields.contains(.contentType) { whole.headerFields[.contentType] = record?.contentType }
        if let total { whole.headerFields[.contentLength] = "\(total)" }
        return whole
    }
}

/// The value of Content-Range (RFC 9110 §14.4), in bytes.
struct ContentRange: Hashable, Sendable {
    /// The first byte; `nil` with a range that can't be satisfied.
    var first: Int?
    var last: Int?
    /// The whole length; `nil` if the server does not know it.
    var total: Int?

    /// - Returns: `nil` for what is none, and for one that contradicts itself.
    init?(_ text: String) {
        guard text.lowercasedASCII.hasBytePrefix("bytes ") else { return nil }
        let parts = Substring(text.utf8.dropFirst(6)).split(atByte: UInt8(ascii: "/"))
        guard parts.count == 2 else { return nil }
        if parts[1] != "*" {
            guard let total = Self.number(parts[1]) else { return nil }
            self.total = total
        }
        if parts[0] == "*" { return }
        let ends = parts[0].split(atByte: UInt8(ascii: "-")).map { Self.number($0) }
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, last < total ?? .max else {
            return nil
        }
        (self.first, self.last) = (first, last)
    }

    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }
}
