import FoundationEssentials
import NetworkCore

/// An entry of a HAR 1.2 document of this library or of a browser, as it is read.
struct HAREntry: Decodable {
    let entry: Recording.Entry

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: HARKey.self)
        let text = try values.decode(String.self, forKey: "startedDateTime")
        guard let started = try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text) else {
            throw values.fault("startedDateTime", "not a date and time in ISO 8601")
        }
        let request = try values.nestedContainer(keyedBy: HARKey.self, forKey: "request")
        let response = try values.object("response")
        var entry = Recording.Entry(
            started: started, request: try Recording.Request(har: request),
            response: try response.flatMap { try Recording.Response(har: $0) },
            metrics: try TransportMetrics(har: values, request, response), transport: try values.value("_transport"))
        entry.failure = try Recording.Failure(har: values) ?? response.flatMap { try Recording.Failure(har: $0) }
        if entry.response == nil, entry.failure == nil {
            entry.failure = Recording.Failure(code: .connectionLost, message: "no response was recorded")
        }
        entry.isIncomplete = try values.value("_incomplete") ?? false
        let redacted: [String] = try values.value("_redacted") ?? []
        entry.redacted = Set(redacted.compactMap { Recording.Part(rawValue: $0) })
        self.entry = entry
    }
}

extension Recording.Request {
    fileprivate init(har values: HARMembers) throws {
        guard let method = HTTPRequest.Method(try values.decode(String.self, forKey: "method")) else {
            throw values.fault("method", "not a method")
        }
        self.init(
            method: method, url: try values.decode(String.self, forKey: "url"),
            headerFields: try values.fields("headers") ?? [:])
        guard let content = try values.object("postData") else { return }
        var sent = try content.body()
        if sent.bytes.isEmpty, let params: [HARPair] = try content.value("params"), !params.isEmpty {
            let isMultipart = MediaType(try content.value("mimeType") ?? "")?.type == "multipart"
            // The boundary and the fields of each part are not in the file.
            sent =
                isMultipart
                ? Recording.Body(omitted: max(1, try values.size("bodySize") ?? 1))
                : Recording.Body(Data(params.map(Self.form).joined(separator: "&").utf8))
        }
        if !sent.bytes.isEmpty, !headerFields.contains(.contentType) {
            headerFields[.contentType] = try content.mediaType()
        }
        body = sent
    }

    /// Returns a parameter as a form has it. Chrome writes names and values as they were sent, encoded.
    private static func form(_ param: HARPair) -> String {
        func encoded(_ text: String) -> String {
            PercentEncoding.formComponent(text.contains(byte: UInt8(ascii: "%")) ? text.decodedAsForm : text)
        }
        return encoded(param.name) + "=" + encoded(param.value ?? "")
    }
}

extension StringProtocol {
    /// The text of a part of a query or a form; the text itself if it can't be decoded.
    var decodedAsForm: String { PercentEncoding.decoded(replacing(ascii: [UInt8(ascii: "+"): " "])) ?? String(self) }
}

extension Recording.Response {
    /// Reads the response; `nil` for the status 0 or -1, with which browsers write a failed exchange.
    fileprivate init?(har values: HARMembers) throws {
        let number = try values.decode(Double.self, forKey: "status")
        if (-1...0).contains(number) { return nil }
        guard let status = Int(exactly: number), (100...999).contains(status) else {
            throw values.fault("status", "not a status from 100 to 999")
        }
        let chunks: [[Double]] = try values.value("_chunks") ?? []
        self.init(
            status: status, reason: try values.value("statusText") ?? "",
            headerFields: try values.fields("headers") ?? [:],
            chunks: try chunks.map { pair in
                guard pair.count == 2, let time = try values.time(pair[0], "_chunks"),
                    let count = try values.size(pair[1], "_chunks")
                else { throw values.fault("_chunks", "one is not a time and a size") }
                return Recording.Chunk(time: time, count: count)
            },
            trailers: try values.fields("_trailers"), headTime: try values.time("_head"))
        guard let content = try values.object("content") else { return }
        body = try content.body()
        if !body.bytes.isEmpty, !headerFields.contains(.contentType) { body.mediaType = try content.mediaType() }
    }
}

extension Recording.Failure {
    /// Reads this library's failure, or the text that Chrome writes for one of a response; `nil` for none.
    fileprivate init?(har values: HARMembers) throws {
        if let text = try? values.decode(String.self, forKey: "_error") {
            guard !text.isEmpty else { return nil }
            let isTLS = text.contains("ERR_CERT_") || text.contains("ERR_SSL_")
            self.init(
                code: Self.codes.first { text.hasByteSuffix($0.key) }?.value ?? (isTLS ? .tlsFailed : .unclassified),
                message: "the browser reports \(text)")
            return
        }
        guard let error = try values.object("_error") else { return nil }
        let phase: String? = try error.value("phase")
        self.init(
            code: NetworkError.Code(rawValue: try error.decode(String.self, forKey: "code")),
            message: try error.value("message") ?? "", phase: phase.flatMap { NetworkError.Phase(rawValue: $0) },
            time: try error.time("time"))
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

extension TransportMetrics {
    /// Reads this library's metrics, or what HAR's own members tell.
    fileprivate init(har entry: HARMembers, _ request: HARMembers, _ response: HARMembers?) throws {
        if let values = try entry.object("_metrics") {
            self.init(total: try values.time("total") ?? .zero)
            for (key, path) in Self.durations { self[keyPath: path] = try values.time(key) }
            for (key, path) in Self.texts { self[keyPath: path] = try values.value(key) }
            for (key, path) in Self.counts { self[keyPath: path] = try values.size(key) }
            connectionReused = try values.value("connectionReused")
            return
        }
        self.init(total: try entry.time("time") ?? .zero)
        remoteAddress = try entry.value("serverIPAddress")
        let versions: [String?] = [try response?.value("httpVersion"), try request.value("httpVersion")]
        httpVersion = versions.compactMap { $0.flatMap { Self.versions[$0.lowercasedASCII] } }.first
        guard let timings = try entry.object("timings") else { return }
        (queued, nameLookup, tls) = (try timings.time("blocked"), try timings.time("dns"), try timings.time("ssl"))
        // HAR's `connect` includes `ssl`.
        let whole = try timings.time("connect")
        connect = whole.map { max(.zero, $0 - (tls ?? .zero)) }
        let rest = [try timings.time("send"), try timings.time("wait")].compactMap(\.self)
        guard !rest.isEmpty else { return }
        firstByte = ([queued, nameLookup, whole].compactMap(\.self) + rest).reduce(.zero, +)
    }

    private static let versions = [
        "http/1.0": "1.0", "http/1.1": "1.1", "http/2": "2", "http/2.0": "2", "h2": "2", "http/3": "3",
        "http/3.0": "3", "h3": "3",
    ]
}
