import NetworkLayer

extension NetworkResponse {
    /// The head as HTTP/1.1 writes it, with what is known of the protocol and the reason.
    var headText: [UInt8] {
        let version = metrics.httpVersion ?? "1.1"
        let reason = head.status.reasonPhrase
        var text = "HTTP/\(version) \(head.status.code)\(reason.isEmpty ? "" : " " + reason)\r\n"
        for field in head.headerFields { text += "\(field.name.rawName): \(field.value)\r\n" }
        return Array((text + "\r\n").utf8)
    }
}
