import Foundation
import JSONText
import NetworkLayer

/// One result: the line that `run` prints for each line of input, and `fetch --as-json` for its request.
struct OutcomeLine: Sendable {
    /// The id of the request, unchanged; `nil` omits the key.
    var id: JSONValue?
    var status: Int?
    var headers: JSONValue = .null
    var bodyBase64: String?
    var effectiveURL: String?
    var error: JSONValue = .null
    var metrics: [JSONValue.Member] = []

    /// Creates the result of a response.
    init(id: JSONValue?, response: NetworkResponse<TransportResponse.Body>, body: Data, url: String) {
        self.id = id
        status = response.head.status.code
        headers = .array(
            response.head.headerFields.map { .array([.string($0.name.rawName), .string($0.value)]) }
        )
        bodyBase64 = body.base64EncodedString()
        effectiveURL = url
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

    /// Creates the result of an invalid line.
    init(id: JSONValue?, code: String, message: String) {
        self.id = id
        error = .object([.init("code", .string(code)), .init("message", .string(message))])
    }

    /// The result as JSON, with its keys in a fixed order.
    var json: JSONValue {
        var members: [JSONValue.Member] = id.map { [.init("id", $0)] } ?? []
        members += [
            .init("status", status.map { .integer($0) } ?? .null),
            .init("headers", headers),
            .init("bodyBase64", .text(bodyBase64)),
            .init("effectiveURL", .text(effectiveURL)),
            .init("error", error),
            .init("metrics", .object(metrics)),
        ]
        return .object(members)
    }
}

extension TransportMetrics {
    /// The known values; times are in milliseconds.
    var members: [JSONValue.Member] {
        let durations: [(String, Duration?)] = [
            ("totalMs", total), ("queuedMs", queued), ("nameLookupMs", nameLookup), ("connectMs", connect),
            ("tlsMs", tls), ("firstByteMs", firstByte),
        ]
        // The names of a documented format, which scripts depend on: 'retries' are the transport's own.
        let counts: [(String, Int?)] = [
            ("requestBodyBytes", requestBodyBytes), ("responseWireBytes", responseWireBytes),
            ("responseBodyBytes", responseBodyBytes), ("retries", resends),
        ]
        let texts: [(String, String?)] = [
            ("httpVersion", httpVersion), ("tlsVersion", tlsVersion), ("tlsCipher", tlsCipher),
            ("remoteAddress", remoteAddress), ("localAddress", localAddress),
        ]
        var members = durations.compactMap { name, value in
            value.map { JSONValue.Member(name, .decimal($0.inSeconds * 1000)) }
        }
        members += connectionReused.map { [.init("connectionReused", .bool($0))] } ?? []
        members += texts.compactMap { name, value in value.map { .init(name, .string($0)) } }
        members += counts.compactMap { name, value in value.map { .init(name, .integer($0)) } }
        return members
    }
}
