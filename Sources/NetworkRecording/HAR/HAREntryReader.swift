import FoundationEssentials
import NetworkCore

/// A reader for one entry of a HAR document.
enum HAREntryReader {
    /// The maximum number of fields in one head.
    private static let maximumFields = 10_000

    static func entry(_ node: HARNode) throws -> Recording.Entry {
        let startNode = try node.required("startedDateTime")
        guard let started = RecordedDate.date(of: try startNode.string()) else {
            throw startNode.fault("is not a date and time in ISO 8601")
        }
        let response = try node.optional("response")
        let metrics = try HARMetricsReader.metrics(of: node)
        var entry = Recording.Entry(
            started: started, request: try request(try node.required("request")), metrics: metrics,
            transport: try node.optional("_transport")?.string())
        if let response { entry.response = try self.response(response) }
        entry.failure = try HARFailureReader.failure(of: node, response: response)
        if entry.response == nil, entry.failure == nil {
            entry.failure = Recording.Failure(code: .connectionLost, message: "no response was recorded")
        }
        entry.isIncomplete = try node.optional("_incomplete")?.bool() ?? false
        if let parts = try node.optional("_redacted") {
            entry.redacted = Set(try parts.array(upTo: 100).compactMap { Recording.Part(rawValue: try $0.string()) })
        }
        return entry
    }

    // MARK: Request

    private static func request(_ node: HARNode) throws -> Recording.Request {
        let methodNode = try node.required("method")
        guard let method = HTTPRequest.Method(try methodNode.string()) else {
            throw methodNode.fault("is not a method")
        }
        var request = Recording.Request(
            method: method, url: try node.required("url").string(), headerFields: try fields(node.optional("headers")))
        guard let content = try node.optional("postData") else { return request }
        let body = try requestBody(content, size: try node.optional("bodySize")?.size())
        if !body.bytes.isEmpty, !request.headerFields.contains(.contentType) {
            request.headerFields[.contentType] = try mediaType(of: content)
        }
        request.body = body
        return request
    }

    private static func requestBody(_ node: HARNode, size: Int?) throws -> Recording.Body {
        let omitted = try node.optional("_omitted")?.size() ?? 0
        if let bytes = try node.optional("_body")?.base64() { return Recording.Body(bytes, omitted: omitted) }
        let isBase64 = try node.optional("encoding")?.string().lowercasedASCII == "base64"
        if let text = try node.optional("text"), isBase64 || text.value != .string("") {
            return Recording.Body(isBase64 ? try text.base64() : Data(try text.string().utf8), omitted: omitted)
        }
        guard let params = try node.optional("params")?.array(upTo: maximumFields), !params.isEmpty else {
            return Recording.Body(omitted: omitted)
        }
        let type = try node.optional("mimeType")?.string() ?? ""
        guard MediaType(type)?.type != "multipart" else {
            // The boundary and the fields of each part are not in the file.
            return Recording.Body(omitted: max(1, size ?? 1))
        }
        return Recording.Body(Data(try params.map(pair).joined(separator: "&").utf8))
    }

    /// Returns a parameter as a form has it. Chrome writes names and values as they were sent, encoded.
    private static func pair(_ node: HARNode) throws -> String {
        let name = encoded(try node.required("name").string())
        return name + "=" + encoded(try node.optional("value")?.string() ?? "")
    }

    private static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let isEncoded = text.utf8.contains(UInt8(ascii: "%")) && PercentEncoding.decoded(text) != nil
        let bytes = text.utf8.flatMap { byte -> [UInt8] in
            if isEncoded && (byte == UInt8(ascii: "%") || byte == UInt8(ascii: "+")) { return [byte] }
            switch byte {
            case UInt8(ascii: " "): return [UInt8(ascii: "+")]
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "*"):
                return [byte]
            default: return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Response

    /// Returns the response, or `nil` for the status 0 or -1, with which browsers write a failed exchange.
    private static func response(_ node: HARNode) throws -> Recording.Response? {
        let statusNode = try node.required("status")
        let status = try statusNode.integer(-1...999)
        guard status > 0 else { return nil }
        guard status >= 100 else { throw statusNode.fault("is not a status from 100 to 999") }
        var response = Recording.Response(
            status: status, reason: try node.optional("statusText")?.string() ?? "",
            headerFields: try fields(node.optional("headers")))
        if let content = try node.optional("content") {
            response.body = try responseBody(content)
            if !response.body.bytes.isEmpty, !response.headerFields.contains(.contentType) {
                response.body.mediaType = try mediaType(of: content)
            }
        }
        response.headTime = try node.optional("_head")?.time()
        if let chunks = try node.optional("_chunks")?.array(upTo: Recording.maximumChunks) {
            response.chunks = try chunks.map(chunk)
        }
        if let trailers = try node.optional("_trailers") { response.trailers = try fields(trailers) }
        return response
    }

    private static func responseBody(_ node: HARNode) throws -> Recording.Body {
        let omitted = try node.optional("_omitted")?.size()
        guard let text = try node.optional("text") else {
            return Recording.Body(omitted: try omitted ?? node.optional("size")?.size() ?? 0)
        }
        let isBase64 = try node.optional("encoding")?.string().lowercasedASCII == "base64"
        return Recording.Body(isBase64 ? try text.base64() : Data(try text.string().utf8), omitted: omitted ?? 0)
    }

    private static func chunk(_ node: HARNode) throws -> Recording.Chunk {
        let values = try node.array(upTo: 2)
        guard values.count == 2, let time = try values[0].time(), let count = try values[1].size() else {
            throw node.fault("is not a time and a number of bytes")
        }
        return Recording.Chunk(time: time, count: count)
    }

    /// The types that HAR files have for bodies without one.
    private static let unknownTypes: Set<String> = ["", "x-unknown", "application/octet-stream"]

    /// Returns the type that HAR's own member has of a body: without it, secrets of a form are not found.
    private static func mediaType(of content: HARNode) throws -> String? {
        guard let type = try content.optional("mimeType")?.string(), !unknownTypes.contains(type.lowercasedASCII)
        else { return nil }
        return type
    }

    /// Returns header fields without the pseudo fields of HTTP/2, such as `:authority`.
    private static func fields(_ node: HARNode?) throws -> HTTPFields {
        var fields = HTTPFields()
        for field in try node?.array(upTo: maximumFields) ?? [] {
            let nameNode = try field.required("name")
            let text = try nameNode.string()
            if text.utf8.first == UInt8(ascii: ":") { continue }
            guard let name = HTTPField.Name(text) else { throw nameNode.fault("is not the name of a header field") }
            // Chrome writes repeated fields as lines of one.
            for value in try field.required("value").string().split(atByte: 0x0A) {
                guard fields.count < maximumFields else { throw field.fault("is beyond \(maximumFields) fields") }
                fields.append(HTTPField(name: name, value: String(value)))
            }
        }
        return fields
    }
}
