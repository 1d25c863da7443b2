import FoundationEssentials
import NetworkCore

/// The HAR 1.2 form of recordings, with all members that HAR requires.
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
    static func line(of entry: Recording.Entry) -> [UInt8] {
        let encoder = JSONEncoder()
        // Sorted, so that a file that is recorded again differs only where an exchange does.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // All numbers are finite, and nothing else can fail.
        return (try? encoder.encode(HAREntry(entry))).map { [UInt8]($0) } ?? []
    }
}

extension HAREntry {
    fileprivate init(_ entry: Recording.Entry) {
        let version = entry.metrics.httpVersion.map { "HTTP/\($0)" } ?? "unknown"
        startedDateTime = RecordedDate.text(of: entry.started)
        time = HARMetrics.milliseconds(max(.zero, entry.metrics.total))
        request = Request(entry.request, version)
        response = Response(entry.response, version, entry.metrics)
        timings = HARMetrics.timings(of: entry.metrics)
        serverIPAddress = HARMetrics.host(of: entry.metrics.remoteAddress)
        transport = entry.transport
        metrics = HARMetrics(entry.metrics)
        error = entry.failure.map { failure in
            Failure(
                code: failure.code.rawValue, message: failure.message, phase: failure.phase?.rawValue,
                time: failure.time.map(HARMetrics.milliseconds))
        }
        if entry.isIncomplete { isIncomplete = true }
        if !entry.redacted.isEmpty { redacted = entry.redacted.map(\.rawValue).sorted() }
    }

    fileprivate static func pairs(_ fields: HTTPFields) -> [Pair] {
        fields.map { Pair(name: $0.name.rawName, value: $0.value) }
    }
}

extension HAREntry.Request {
    fileprivate init(_ request: Recording.Request, _ version: String) {
        (method, url, httpVersion) = (request.method.rawValue, request.url, version)
        headers = HAREntry.pairs(request.headerFields)
        queryString = Self.query(of: request.url)
        bodySize = Double(request.body?.count ?? 0)
        postData = request.body.map { body in
            let text = String(validating: body.bytes, as: UTF8.self)
            return HAREntry.Content(
                mimeType: request.headerFields[.contentType] ?? "application/octet-stream", text: text ?? "",
                body: text == nil ? body.bytes.base64EncodedString() : nil,
                omitted: body.omitted > 0 ? Double(body.omitted) : nil)
        }
    }

    private static func query(of url: String) -> [HAREntry.Pair] {
        let bytes = url.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        return bytes[mark...].dropFirst().split(separator: UInt8(ascii: "&")).map { pair in
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return HAREntry.Pair(name: decoded(halves[0]), value: halves.count > 1 ? decoded(halves[1]) : "")
        }
    }

    private static func decoded(_ bytes: Substring.UTF8View) -> String {
        let text = String(Substring(bytes))
        return PercentEncoding.decoded(text.replacing(ascii: [UInt8(ascii: "+"): " "])) ?? text
    }
}

extension HAREntry.Response {
    fileprivate init(_ response: Recording.Response?, _ version: String, _ metrics: TransportMetrics) {
        let head = response?.headerFields ?? [:]
        status = Double(response?.status ?? 0)
        (statusText, httpVersion) = (response?.reason ?? "", version)
        headers = HAREntry.pairs(head)
        content = HAREntry.Content(response?.body ?? Recording.Body(), head[.contentType])
        redirectURL = head[.location] ?? ""
        bodySize = metrics.responseWireBytes ?? -1
        guard let response else { return }
        headTime = response.headTime.map(HARMetrics.milliseconds)
        if !response.chunks.isEmpty {
            chunks = response.chunks.map { [HARMetrics.milliseconds($0.time), Double($0.count)] }
        }
        trailers = response.trailers.map(HAREntry.pairs)
    }
}

extension HAREntry.Content {
    fileprivate init(_ body: Recording.Body, _ type: String?) {
        (size, mimeType) = (Double(body.count), type ?? body.mediaType ?? "x-unknown")
        if let text = String(validating: body.bytes, as: UTF8.self) {
            self.text = text
        } else {
            (text, encoding) = (body.bytes.base64EncodedString(), "base64")
        }
        if body.omitted > 0 { omitted = Double(body.omitted) }
    }
}
