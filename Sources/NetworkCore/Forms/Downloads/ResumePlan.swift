import HTTPTypes

/// The request for the rest of a partial file, and the reaction to its response. Pure: it touches no file.
struct ResumePlan: Sendable {
    private let record: PartialRecord?
    private let length: Int

    init(length: Int, record: PartialRecord?) {
        self.length = length
        self.record = length > 0 ? record : nil
    }

    /// Requests the rest, if the server still has the same version (RFC 9110 §13.1.5, §14.2).
    func apply(to request: inout TransportRequest) {
        guard let record else { return }
        request.headerFields[.range] = "bytes=\(length)-"
        request.headerFields[.ifRange] = record.validator
    }

    enum Reaction: Equatable {
        case append(total: Int?)
        /// Its body is the whole file, if its status is accepted.
        case writeWhole
        case isComplete
        /// The bytes in the file can't be used: delete them, and send the request again without a range.
        case startAgain
    }

    /// Returns the reaction to the head of a response.
    func reaction(to head: HTTPResponse, from source: RequestURL) -> Reaction {
        guard let record else { return .writeWhole }
        if [206, 416].contains(head.status.code), !record.isFrom(source) { return .startAgain }
        let range = head.headerFields[.contentRange].flatMap { ContentRange($0) }
        switch head.status.code {
        case 206:
            // A multipart response has its ranges within its body (RFC 9110 §15.3.7.2).
            let isMultipart = head.headerFields[.contentType].flatMap { MediaType($0) }?.type == "multipart"
            guard let range, range.first == length, head.headerFields[.contentEncoding] == nil, !isMultipart,
                record.total == nil || range.total == nil || range.total == record.total,
                isOfTheSame(head, record), !isOfAnother(head, record),
                // The rest as requested, and not a piece of it. Without a known length it may be a piece.
                let total = range.total ?? record.total, total > 0, range.last == total - 1
            else { return .startAgain }
            return .append(total: total)
        case 416:
            // There is nothing after the last byte: the file was complete when the download was interrupted.
            let isWhole = range?.first == nil && range?.total == length && record.total == length
            return isWhole && !isOfAnother(head, record) ? .isComplete : .startAgain
        default: return .writeWhole
        }
    }

    /// Whether the part has an entity tag exactly if the whole has one: a tag must be repeated in the part, a date need
    /// not be (RFC 9110 §15.3.7).
    private func isOfTheSame(_ head: HTTPResponse, _ record: PartialRecord) -> Bool {
        record.hasTag == head.headerFields.contains(.eTag)
    }

    /// Whether a field of the response contradicts the record's validator.
    private func isOfAnother(_ head: HTTPResponse, _ record: PartialRecord) -> Bool {
        let field: HTTPField.Name = record.hasTag ? .eTag : .lastModified
        return head.headerFields[field].map { !$0.hasSameBytes(as: record.validator) } ?? false
    }

    /// Returns the 200 that a part stands for, or that a 416 stands for if the file is complete.
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
