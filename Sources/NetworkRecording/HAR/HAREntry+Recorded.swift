import FoundationEssentials
import NetworkCore

extension HAREntry {
    /// The maximum number of fields in one head.
    private static let maximumFields = 10_000

    /// Returns the entry as this library has it.
    /// - Throws: ``HARFault``.
    func recorded() throws -> Recording.Entry {
        guard let started = RecordedDate.date(of: startedDateTime) else {
            throw HARFault(place: "startedDateTime", problem: "is not a date and time in ISO 8601")
        }
        var entry = Recording.Entry(
            started: started, request: try recordedRequest(), response: try recordedResponse(),
            metrics: try recordedMetrics(), transport: transport)
        entry.failure = try (error ?? response?.error)?.recorded()
        if entry.response == nil, entry.failure == nil {
            entry.failure = Recording.Failure(code: .connectionLost, message: "no response was recorded")
        }
        entry.isIncomplete = isIncomplete ?? false
        entry.redacted = Set((redacted ?? []).compactMap { Recording.Part(rawValue: $0) })
        return entry
    }

    // MARK: Request

    private func recordedRequest() throws -> Recording.Request {
        guard let method = HTTPRequest.Method(request.method) else {
            throw HARFault(place: "request.method", problem: "is not a method")
        }
        var read = Recording.Request(
            method: method, url: request.url, headerFields: try Self.fields(request.headers, "request.headers"))
        guard let content = request.postData else { return read }
        let body = try requestBody(content)
        if !body.bytes.isEmpty, !read.headerFields.contains(.contentType) {
            read.headerFields[.contentType] = content.knownType
        }
        read.body = body
        return read
    }

    private func requestBody(_ content: Content) throws -> Recording.Body {
        let omitted = try HARFault.size(content.omitted, "request.postData._omitted") ?? 0
        let isBase64 = content.body != nil || content.isBase64
        if let text = content.body ?? content.text, isBase64 || !text.isEmpty {
            let bytes = try HARFault.bytes(text, isBase64: isBase64, "request.postData.text")
            return Recording.Body(bytes, omitted: omitted)
        }
        guard let params = content.params, !params.isEmpty else { return Recording.Body(omitted: omitted) }
        guard MediaType(content.mimeType ?? "")?.type != "multipart" else {
            // The boundary and the fields of each part are not in the file.
            let size = try HARFault.size(request.bodySize, "request.bodySize")
            return Recording.Body(omitted: max(1, size ?? 1))
        }
        let pairs = params.map { Self.encoded($0.name) + "=" + Self.encoded($0.value ?? "") }
        return Recording.Body(Data(pairs.joined(separator: "&").utf8))
    }

    /// Returns a text as a form has it. Chrome writes names and values as they were sent, encoded.
    private static func encoded(_ text: String) -> String {
        let isEncoded = text.utf8.contains(UInt8(ascii: "%")) && PercentEncoding.decoded(text) != nil
        let bytes = text.utf8.map { byte -> String in
            let isKept = byte.isAlphanumeric || (isEncoded ? "-._*%+" : "-._*").utf8.contains(byte)
            if isKept { return String(Unicode.Scalar(byte)) }
            let digits = String(byte, radix: 16, uppercase: true)
            return byte == UInt8(ascii: " ") ? "+" : byte < 16 ? "%0\(digits)" : "%\(digits)"
        }
        return bytes.joined()
    }

    // MARK: Response

    /// Returns the response, or `nil` for the status 0 or -1, with which browsers write a failed exchange.
    private func recordedResponse() throws -> Recording.Response? {
        guard let response, !(-1...0).contains(response.status) else { return nil }
        guard let status = Int(exactly: response.status), (100...999).contains(status) else {
            throw HARFault(place: "response.status", problem: "is not a status from 100 to 999")
        }
        var read = Recording.Response(
            status: status, reason: response.statusText ?? "",
            headerFields: try Self.fields(response.headers, "response.headers"),
            headTime: try HARFault.time(response.headTime, "response._head"))
        if let content = response.content {
            read.body = try Self.responseBody(content)
            if !read.body.bytes.isEmpty, !read.headerFields.contains(.contentType) {
                read.body.mediaType = content.knownType
            }
        }
        read.chunks = try (response.chunks ?? []).map { values in
            guard values.count == 2, let time = try HARFault.time(values[0], "response._chunks"),
                let count = try HARFault.size(values[1], "response._chunks")
            else { throw HARFault(place: "response._chunks", problem: "has one that is not a time and a size") }
            return Recording.Chunk(time: time, count: count)
        }
        if let trailers = response.trailers { read.trailers = try Self.fields(trailers, "response._trailers") }
        return read
    }

    private static func responseBody(_ content: Content) throws -> Recording.Body {
        let size = try HARFault.size(content.size, "response.content.size") ?? 0
        let omitted = try HARFault.size(content.omitted, "response.content._omitted")
        guard let text = content.text else { return Recording.Body(omitted: omitted ?? size) }
        let bytes = try HARFault.bytes(text, isBase64: content.isBase64, "response.content.text")
        return Recording.Body(bytes, omitted: omitted ?? 0)
    }

    /// Returns header fields without the pseudo fields of HTTP/2, such as `:authority`.
    private static func fields(_ pairs: [Pair]?, _ place: String) throws -> HTTPFields {
        var fields = HTTPFields()
        for (index, pair) in (pairs ?? []).enumerated() where pair.name.utf8.first != UInt8(ascii: ":") {
            guard let name = HTTPField.Name(pair.name), let value = pair.value else {
                throw HARFault(place: "\(place)[\(index)]", problem: "is not a header field")
            }
            // Chrome writes repeated fields as lines of one.
            for line in value.split(atByte: 0x0A) {
                guard fields.count < maximumFields else {
                    throw HARFault(place: "\(place)[\(index)]", problem: "is beyond \(maximumFields) fields")
                }
                fields.append(HTTPField(name: name, value: String(line)))
            }
        }
        return fields
    }
}

extension HAREntry.Content {
    fileprivate var isBase64: Bool { encoding?.lowercasedASCII == "base64" }

    /// The type of a body whose header fields have none: without it, secrets of a form are not found.
    fileprivate var knownType: String? {
        ["", "x-unknown", "application/octet-stream"].contains(mimeType?.lowercasedASCII ?? "") ? nil : mimeType
    }
}

extension HAREntry.Failure {
    fileprivate func recorded() throws -> Recording.Failure? {
        guard let code else { return browserText.flatMap { $0.isEmpty ? nil : Self.browserFailure($0) } }
        return Recording.Failure(
            code: NetworkError.Code(rawValue: code), message: message ?? "",
            phase: phase.flatMap { NetworkError.Phase(rawValue: $0) }, time: try HARFault.time(time, "_error.time"))
    }

    private static func browserFailure(_ text: String) -> Recording.Failure {
        let code = codes.first { text.hasByteSuffix($0.key) }?.value
        return Recording.Failure(
            code: code ?? (text.contains("ERR_CERT_") || text.contains("ERR_SSL_") ? .tlsFailed : .unclassified),
            message: "the browser reports \(text)")
    }

    private static let codes: [String: NetworkError.Code] = [
        "ERR_ABORTED": .cancelled, "ERR_NAME_NOT_RESOLVED": .nameNotResolved,
        "ERR_CONNECTION_REFUSED": .connectFailed, "ERR_ADDRESS_UNREACHABLE": .connectFailed,
        "ERR_CONNECTION_TIMED_OUT": .connectTimeout, "ERR_TIMED_OUT": .totalTimeout,
        "ERR_CONNECTION_RESET": .connectionLost, "ERR_CONNECTION_CLOSED": .connectionLost,
        "ERR_EMPTY_RESPONSE": .connectionLost, "ERR_CONTENT_LENGTH_MISMATCH": .truncatedBody,
        "ERR_INCOMPLETE_CHUNKED_ENCODING": .truncatedBody, "ERR_CERT_DATE_INVALID": .certificateExpired,
        "ERR_CERT_AUTHORITY_INVALID": .certificateUntrusted, "ERR_CERT_COMMON_NAME_INVALID": .certificateHostMismatch,
        "ERR_PROXY_CONNECTION_FAILED": .proxyFailed,
    ]
}
