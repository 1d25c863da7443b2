import Foundation
import NetworkLayer

/// One answer: what `run` prints for a line and `fetch --json` for its request.
struct AnswerLine: Sendable {
    /// The request's id as it was; `nil` leaves the key out.
    var id: JSONValue?
    var status: Int?
    var headers: JSONValue = .null
    var bodyBase64: String?
    var effectiveURL: String?
    var error: JSONValue = .null
    var metrics: [JSONValue.Member] = []

    /// A response.
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

    /// A failure of the library.
    init(id: JSONValue? = nil, error: NetworkError) {
        let below = error.underlying.map { " [\($0.domain) \($0.code): \($0.message)]" } ?? ""
        self.init(id: id, code: error.code.rawValue, message: error.message + below)
        metrics = error.exchange.map { [.init("totalMs", .decimal($0.elapsed.inSeconds * 1000))] } ?? []
    }

    /// A failure of the tool before there is a request: a file that can't be read, a variable that is not there.
    init(failure: ToolFailure) {
        let code = failure.status == .file ? NetworkError.Code.unreadableFile : .invalidOption
        self.init(id: nil, code: code.rawValue, message: failure.message)
    }

    /// A failure of the line itself.
    init(id: JSONValue?, code: String, message: String) {
        self.id = id
        error = .object([.init("code", .string(code)), .init("message", .string(message))])
    }

    /// The answer with its keys in their order.
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
    /// What is known, times in milliseconds.
    var members: [JSONValue.Member] {
        let durations: [(String, Duration?)] = [
            ("totalMs", total), ("queuedMs", queued), ("nameLookupMs", nameLookup), ("connectMs", connect),
            ("tlsMs", tls), ("firstByteMs", firstByte),
        ]
        let counts: [(String, Int?)] = [
            ("requestBodyBytes", requestBodyBytes), ("responseWireBytes", responseWireBytes),
            ("responseBodyBytes", responseBodyBytes), ("retries", retries),
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
