import NetworkCore

/// A reader for the failure of an exchange.
enum HARFailureReader {
    /// Returns this library's own `_error`, or a browser's: Chrome writes a text into the response.
    static func failure(of entry: HARNode, response: HARNode?) throws -> Recording.Failure? {
        guard let node = try entry.optional("_error") ?? response?.optional("_error") else { return nil }
        if case .string(let text) = node.value { return text.isEmpty ? nil : browserFailure(text) }
        let phase = try node.optional("phase")?.string()
        return Recording.Failure(
            code: NetworkError.Code(rawValue: try node.required("code").string()),
            message: try node.optional("message")?.string() ?? "",
            phase: phase.flatMap { NetworkError.Phase(rawValue: $0) },
            time: try node.optional("time")?.time()
        )
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
