import NetworkLayer

extension NetworkResponse {
    /// The head in the format of HTTP/1.1, with the protocol version and the reason phrase if they are known. The
    /// former may be known only when the body has ended.
    var headText: [UInt8] {
        let version = metrics.httpVersion.map { "/" + $0 } ?? ""
        let reason = head.status.reasonPhrase
        var text = "HTTP\(version) \(head.status.code)\(reason.isEmpty ? "" : " " + reason)\r\n"
        for field in head.headerFields { text += "\(field.name.rawName): \(field.value)\r\n" }
        return Array((text + "\r\n").utf8)
    }
}
