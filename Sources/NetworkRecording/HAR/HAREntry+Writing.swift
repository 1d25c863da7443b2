import FoundationEssentials
import NetworkCore

extension Recording.Entry {
    /// The entry as one line of a HAR 1.2 document, with all members that HAR requires, secrets included.
    var harLine: [UInt8] {
        let encoder = JSONEncoder()
        // Sorted, so that a file that is recorded again differs only where an exchange does.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // All numbers are finite, and nothing else can fail.
        return (try? encoder.encode(ParameterValue.object(har))).map { [UInt8]($0) } ?? []
    }

    private var har: [String: ParameterValue] {
        let version = metrics.httpVersion.map { "HTTP/\($0)" } ?? "unknown"
        var values: [String: ParameterValue] = [
            "startedDateTime": .string(started.harText), "time": max(.zero, metrics.total).har, "cache": [:],
            "request": .object(request.har(version)), "timings": .object(metrics.harTimings),
            "response": .object(Recording.Response.har(response, version, metrics)),
            "_metrics": .object(metrics.har),
        ]
        values["serverIPAddress"] = metrics.remoteAddress.map { .string($0.withoutPort) }
        values["_transport"] = transport.map { .string($0) }
        values["_error"] = failure.map { failure in
            var error: [String: ParameterValue] = [
                "code": .string(failure.code.rawValue), "message": .string(failure.message),
            ]
            error["phase"] = failure.phase.map { .string($0.rawValue) }
            error["time"] = failure.time.map(\.har)
            return .object(error)
        }
        if isIncomplete { values["_incomplete"] = true }
        if !redacted.isEmpty { values["_redacted"] = .array(redacted.map(\.rawValue).sorted().map { .string($0) }) }
        return values
    }
}

extension Recording.Request {
    fileprivate func har(_ version: String) -> [String: ParameterValue] {
        var values: [String: ParameterValue] = [
            "method": .string(method.rawValue), "url": .string(url), "httpVersion": .string(version), "cookies": [],
            "headers": headerFields.har, "queryString": .array(query), "headersSize": -1,
            "bodySize": .int(body?.count ?? 0),
        ]
        values["postData"] = body.map { .object($0.har(headerFields[.contentType] ?? "application/octet-stream")) }
        return values
    }

    private var query: [ParameterValue] {
        let parts = url.split(atByte: UInt8(ascii: "#"))[0].split(atByte: UInt8(ascii: "?"), maximumSplits: 1)
        guard parts.count > 1 else { return [] }
        return parts[1].split(atByte: UInt8(ascii: "&")).filter { !$0.isEmpty }.map { pair in
            let halves = pair.split(atByte: UInt8(ascii: "="), maximumSplits: 1).map { $0.decodedAsForm }
            return ["name": .string(halves[0]), "value": .string(halves.count > 1 ? halves[1] : "")]
        }
    }
}

extension Recording.Response {
    fileprivate static func har(
        _ response: Recording.Response?, _ version: String, _ metrics: TransportMetrics
    ) -> [String: ParameterValue] {
        let (head, body) = (response?.headerFields ?? [:], response?.body ?? Recording.Body())
        var content = body.har(head[.contentType] ?? body.mediaType ?? "x-unknown")
        content["size"] = .int(body.count)
        var values: [String: ParameterValue] = [
            "status": .int(response?.status ?? 0), "statusText": .string(response?.reason ?? ""),
            "httpVersion": .string(version), "cookies": [], "headers": head.har, "content": .object(content),
            "redirectURL": .string(head[.location] ?? ""), "headersSize": -1,
            "bodySize": .int(metrics.responseWireBytes ?? -1),
        ]
        values["_head"] = response?.headTime.map(\.har)
        if let chunks = response?.chunks, !chunks.isEmpty {
            values["_chunks"] = .array(chunks.map { [$0.time.har, .int($0.count)] })
        }
        values["_trailers"] = response?.trailers?.har
        return values
    }
}

extension Recording.Body {
    fileprivate func har(_ type: String) -> [String: ParameterValue] {
        var values: [String: ParameterValue] = ["mimeType": .string(type)]
        if let text = String(validating: bytes, as: UTF8.self) {
            values["text"] = .string(text)
        } else {
            (values["text"], values["encoding"]) = (.string(bytes.base64EncodedString()), "base64")
        }
        if omitted > 0 { values["_omitted"] = .int(omitted) }
        return values
    }
}

extension TransportMetrics {
    fileprivate var har: [String: ParameterValue] {
        var values: [String: ParameterValue] = ["total": total.har]
        for (key, path) in Self.durations { values[key.stringValue] = self[keyPath: path].map(\.har) }
        for (key, path) in Self.texts { values[key.stringValue] = self[keyPath: path].map { .string($0) } }
        for (key, path) in Self.counts { values[key.stringValue] = self[keyPath: path].map { .int($0) } }
        values["connectionReused"] = connectionReused.map { .bool($0) }
        return values
    }

    /// HAR's own durations: `-1` for an unknown one, and 0 for those three that must not be negative there. The time to
    /// send a request is not known, and part of `wait`; `connect` includes `ssl`.
    fileprivate var harTimings: [String: ParameterValue] {
        // As numbers, since the sum of two durations may overflow.
        let known = [queued, nameLookup, connect, tls].map { $0?.milliseconds }
        let whole = known[2].map { $0 + (known[3] ?? 0) }
        let before = [known[0], known[1], whole].reduce(0) { $0 + ($1 ?? 0) }
        func rest(_ end: Double, _ start: Double) -> ParameterValue { .milliseconds(max(0, end - start)) }
        return [
            "blocked": .milliseconds(known[0] ?? -1), "dns": .milliseconds(known[1] ?? -1),
            "connect": .milliseconds(whole ?? -1), "ssl": .milliseconds(known[3] ?? -1), "send": 0,
            "wait": firstByte.map { rest($0.milliseconds, before) } ?? 0,
            "receive": firstByte.map { rest(total.milliseconds, $0.milliseconds) } ?? 0,
        ]
    }
}

extension HTTPFields {
    fileprivate var har: ParameterValue {
        .array(map { ["name": .string($0.name.rawName), "value": .string($0.value)] })
    }
}

extension Duration {
    fileprivate var milliseconds: Double { self / .milliseconds(1) }
    fileprivate var har: ParameterValue { .milliseconds(milliseconds) }
}

extension ParameterValue {
    /// A time, to the microsecond.
    fileprivate static func milliseconds(_ time: Double) -> ParameterValue { .double((time * 1000).rounded() / 1000) }
}

extension Date {
    /// The date in UTC with milliseconds. One outside the years 1 to 9999 becomes the first or the last of them.
    var harText: String {
        let seconds =
            timeIntervalSince1970.isNaN ? 0 : min(max(timeIntervalSince1970, -62_135_596_800), 253_402_300_799)
        return CivilDate.text(milliseconds: Int((seconds * 1000).rounded()))
    }
}

extension String {
    /// The address without its port and brackets.
    fileprivate var withoutPort: String {
        guard let colon = utf8.lastIndex(of: UInt8(ascii: ":")) else { return self }
        let host = self[..<colon]
        if host.hasBytePrefix("[") { return String(host.dropFirst().dropLast()) }
        // An IPv6 address without a port.
        return host.contains(byte: UInt8(ascii: ":")) ? self : String(host)
    }
}
