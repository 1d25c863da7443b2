import FoundationEssentials
import NetworkCore

/// The HAR 1.2 form of recordings. All members that HAR requires are there; the names of this library's own begin with
/// an underscore, as HAR has it for custom fields.
enum HARWriter {
    /// The text before the first entry.
    static let start = Array(
        """
        {"log":{"version":"1.2","creator":{"name":"NetworkLayer","version":"\(NetworkLayerVersion.current)"},"entries":[

        """.utf8)
    /// The text between two entries.
    static let separator = Array(",\n".utf8)
    /// The text after the last entry.
    static let end = Array("\n]}}\n".utf8)
    /// The text after the last entry so far, of a document that grows; as long as ``closedEnd``, so that one write ends
    /// the document.
    static let openEnd = Array("\n],\"_incomplete\":true }}\n".utf8)
    /// The text after the last entry of a document that has grown.
    static let closedEnd = Array("\n],\"_incomplete\":false}}\n".utf8)

    /// Returns a recording as it is, secrets included.
    static func text(of recording: Recording) -> [UInt8] {
        start + recording.entries.map { line(of: $0) }.joined(separator: separator)
            + (recording.isIncomplete ? openEnd : end)
    }

    /// Returns an entry as one line, secrets included.
    static func line(of entry: Recording.Entry) -> [UInt8] { value(of: entry).line }

    static func value(of entry: Recording.Entry) -> JSONValue {
        let version = httpVersion(entry.metrics.httpVersion)
        var members: [JSONValue.Member] = [
            .init("startedDateTime", .string(RecordedDate.text(of: entry.started))),
            .init("time", HARMetrics.milliseconds(max(.zero, entry.metrics.total))),
            .init("request", request(entry.request, version)),
            .init("response", response(entry.response, version, entry.metrics)),
            .init("cache", .object([])),
            .init("timings", HARMetrics.timings(of: entry.metrics)),
        ]
        if let address = HARMetrics.host(of: entry.metrics.remoteAddress) {
            members.append(.init("serverIPAddress", .string(address)))
        }
        if let name = entry.transport { members.append(.init("_transport", .string(name))) }
        members.append(.init("_metrics", HARMetrics.own(entry.metrics)))
        if let failure = entry.failure { members.append(.init("_error", error(failure))) }
        if entry.isIncomplete { members.append(.init("_incomplete", .bool(true))) }
        if !entry.redacted.isEmpty {
            let parts = entry.redacted.map(\.rawValue).sorted().map { JSONValue.string($0) }
            members.append(.init("_redacted", .array(parts)))
        }
        return .object(members)
    }

    private static func httpVersion(_ version: String?) -> JSONValue {
        .string(version.map { "HTTP/\($0)" } ?? "unknown")
    }

    // MARK: Request

    private static func request(_ request: Recording.Request, _ version: JSONValue) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("method", .string(request.method.rawValue)),
            .init("url", .string(request.url)),
            .init("httpVersion", version),
            .init("cookies", .array([])),
            .init("headers", fields(request.headerFields)),
            .init("queryString", query(of: request.url)),
            .init("headersSize", .integer(-1)),
            .init("bodySize", .integer(request.body?.count ?? 0)),
        ]
        guard let body = request.body else { return .object(members) }
        let text = String(validating: body.bytes, as: UTF8.self)
        var content: [JSONValue.Member] = [
            .init("mimeType", .string(request.headerFields[.contentType] ?? "application/octet-stream")),
            .init("text", .string(text ?? "")),
        ]
        if text == nil { content.append(.init("_body", .string(body.bytes.base64EncodedString()))) }
        if body.omitted > 0 { content.append(.init("_omitted", .integer(body.omitted))) }
        members.append(.init("postData", .object(content)))
        return .object(members)
    }

    private static func query(of url: String) -> JSONValue {
        let bytes = url.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")), case let query = bytes[mark...].dropFirst(),
            !query.isEmpty
        else { return .array([]) }
        return .array(
            query.split(separator: UInt8(ascii: "&")).map { pair in
                let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                return .object([
                    .init("name", .string(decoded(halves[0]))),
                    .init("value", .string(halves.count > 1 ? decoded(halves[1]) : "")),
                ])
            })
    }

    private static func decoded(_ bytes: Substring.UTF8View) -> String {
        let text = String(Substring(bytes))
        return PercentEncoding.decoded(text.replacing(ascii: [UInt8(ascii: "+"): " "])) ?? text
    }

    // MARK: Response

    private static func response(
        _ response: Recording.Response?, _ version: JSONValue, _ metrics: TransportMetrics
    ) -> JSONValue {
        let head = response?.headerFields ?? [:]
        var members: [JSONValue.Member] = [
            .init("status", .integer(response?.status ?? 0)),
            .init("statusText", .string(response?.reason ?? "")),
            .init("httpVersion", version),
            .init("cookies", .array([])),
            .init("headers", fields(head)),
            .init("content", content(response?.body ?? Recording.Body(), head[.contentType])),
            .init("redirectURL", .string(head[.location] ?? "")),
            .init("headersSize", .integer(-1)),
            .init("bodySize", .integer(metrics.responseWireBytes ?? -1)),
        ]
        guard let response else { return .object(members) }
        if let time = response.headTime { members.append(.init("_head", HARMetrics.milliseconds(time))) }
        if !response.chunks.isEmpty {
            let chunks = response.chunks.map { chunk in
                JSONValue.array([HARMetrics.milliseconds(chunk.time), .integer(chunk.count)])
            }
            members.append(.init("_chunks", .array(chunks)))
        }
        if let trailers = response.trailers { members.append(.init("_trailers", fields(trailers))) }
        return .object(members)
    }

    private static func content(_ body: Recording.Body, _ type: String?) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("size", .integer(body.count)), .init("mimeType", .string(type ?? body.mediaType ?? "x-unknown")),
        ]
        if let text = String(validating: body.bytes, as: UTF8.self) {
            members.append(.init("text", .string(text)))
        } else {
            members.append(.init("text", .string(body.bytes.base64EncodedString())))
            members.append(.init("encoding", .string("base64")))
        }
        if body.omitted > 0 { members.append(.init("_omitted", .integer(body.omitted))) }
        return .object(members)
    }

    private static func error(_ failure: Recording.Failure) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("code", .string(failure.code.rawValue)), .init("message", .string(failure.message)),
        ]
        if let phase = failure.phase { members.append(.init("phase", .string(phase.rawValue))) }
        if let time = failure.time { members.append(.init("time", HARMetrics.milliseconds(time))) }
        return .object(members)
    }

    private static func fields(_ fields: HTTPFields) -> JSONValue {
        .array(
            fields.map { field in
                .object([.init("name", .string(field.name.rawName)), .init("value", .string(field.value))])
            })
    }
}
