import Foundation
import JSONText
import NetworkLayer

/// One result: the line that `run` prints for each line of input, and `fetch --as-json` for its request.
struct OutcomeLine: Sendable {
    /// The id of the request, unchanged; `nil` omits the key.
    private var id: JSONValue?
    private(set) var status: Int?
    private(set) var effectiveURL: String?
    private var (headers, body, error) = (JSONValue.null, JSONValue.null, JSONValue.null)
    private var metrics: [JSONValue.Member] = []

    init(id: JSONValue?, response: NetworkResponse<TransportResponse.Body>, body: Data, url: String) {
        (self.id, status, effectiveURL) = (id, response.head.status.code, url)
        headers = .array(response.head.headerFields.map { .array([.string($0.name.rawName), .string($0.value)]) })
        self.body = .string(body.base64EncodedString())
        metrics = response.metrics.members
    }

    /// Creates the result of a request that failed with an error of the library.
    init(id: JSONValue? = nil, error: NetworkError) {
        let below = error.underlying.map { " [\($0.domain) \($0.code): \($0.message)]" } ?? ""
        self.init(id: id, code: error.code.rawValue, message: error.message + below)
        metrics = error.exchange.map { [.init("totalMs", .decimal($0.elapsed.inSeconds * 1000))] } ?? []
    }

    /// Creates the result of a failure before there is a request, such as an unreadable file or a missing variable.
    init(failure: ToolFailure) {
        let code = failure.status == .file ? NetworkError.Code.unreadableFile : .invalidOption
        self.init(id: nil, code: code.rawValue, message: failure.message)
    }

    init(id: JSONValue?, code: String, message: String) {
        self.id = id
        error = .object([.init("code", .string(code)), .init("message", .string(message))])
    }

    /// The result as JSON, with its keys in a fixed order.
    var json: JSONValue {
        .object(
            (id.map { [.init("id", $0)] } ?? []) + [
                .init("status", status.map { .integer($0) } ?? .null), .init("headers", headers),
                .init("bodyBase64", body), .init("effectiveURL", .text(effectiveURL)), .init("error", error),
                .init("metrics", .object(metrics)),
            ])
    }
}

extension TransportMetrics {
    /// The known values; times are in milliseconds. The names are those of a documented format, which scripts depend
    /// on: 'retries' are the transport's own.
    fileprivate var members: [JSONValue.Member] {
        func time(_ value: Duration?) -> JSONValue? { value.map { .decimal($0.inSeconds * 1000) } }
        func count(_ value: Int?) -> JSONValue? { value.map { .integer($0) } }
        func text(_ value: String?) -> JSONValue? { value.map { .string($0) } }
        let all: [(String, JSONValue?)] = [
            ("totalMs", time(total)), ("queuedMs", time(queued)), ("nameLookupMs", time(nameLookup)),
            ("connectMs", time(connect)), ("tlsMs", time(tls)), ("firstByteMs", time(firstByte)),
            ("connectionReused", connectionReused.map { .bool($0) }), ("httpVersion", text(httpVersion)),
            ("tlsVersion", text(tlsVersion)), ("tlsCipher", text(tlsCipher)), ("remoteAddress", text(remoteAddress)),
            ("localAddress", text(localAddress)), ("requestBodyBytes", count(requestBodyBytes)),
            ("responseWireBytes", count(responseWireBytes)), ("responseBodyBytes", count(responseBodyBytes)),
            ("retries", count(resends)),
        ]
        return all.compactMap { name, value in value.map { .init(name, $0) } }
    }
}
