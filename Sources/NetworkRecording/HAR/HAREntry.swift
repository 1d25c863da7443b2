/// An entry of a HAR 1.2 document: the members that are read, and those that HAR requires. The names of this library's
/// own begin with an underscore, as HAR has it for custom members. Durations are milliseconds; `-1` is unknown.
struct HAREntry: Codable {
    var startedDateTime: String
    var time: Double?
    var request: Request
    var response: Response?
    @WriteOnly var cache: [String: String]? = [:]
    var timings: Timings?
    var serverIPAddress: String?
    var transport: String?
    var metrics: HARMetrics?
    var error: Failure?
    var isIncomplete: Bool?
    var redacted: [String]?

    private enum CodingKeys: String, CodingKey {
        case startedDateTime, time, request, response, cache, timings, serverIPAddress
        case transport = "_transport"
        case metrics = "_metrics"
        case error = "_error"
        case isIncomplete = "_incomplete"
        case redacted = "_redacted"
    }

    struct Request: Codable {
        var method: String
        var url: String
        var httpVersion: String?
        @WriteOnly var cookies: [String]? = []
        var headers: [Pair]?
        @WriteOnly var queryString: [Pair]? = []
        @WriteOnly var headersSize: Int? = -1
        var bodySize: Double?
        var postData: Content?
    }

    struct Response: Codable {
        var status: Double
        var statusText: String?
        var httpVersion: String?
        @WriteOnly var cookies: [String]? = []
        var headers: [Pair]?
        var content: Content?
        @WriteOnly var redirectURL: String? = ""
        @WriteOnly var headersSize: Int? = -1
        @WriteOnly var bodySize: Int? = -1
        var headTime: Double?
        var chunks: [[Double]]?
        var trailers: [Pair]?
        var error: Failure?

        private enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
            case headTime = "_head"
            case chunks = "_chunks"
            case trailers = "_trailers"
            case error = "_error"
        }
    }

    /// A header field, a parameter of a query or of a form.
    struct Pair: Codable {
        var name: String
        var value: String?
    }

    /// A body: of a response, or as `postData` of a request.
    struct Content: Codable {
        var size: Double?
        var mimeType: String?
        var text: String?
        var encoding: String?
        var params: [Pair]?
        /// The bytes in Base64 of a request, whose body is a text in HAR.
        var body: String?
        var omitted: Double?

        private enum CodingKeys: String, CodingKey {
            case size, mimeType, text, encoding, params
            case body = "_body"
            case omitted = "_omitted"
        }
    }

    struct Timings: Codable {
        var blocked, dns, connect, ssl, send, wait, receive: Double?
    }

    /// This library's failure, or the text that Chrome writes.
    struct Failure: Codable {
        var code: String?
        var message: String?
        var phase: String?
        var time: Double?
        var browserText: String?

        private enum CodingKeys: CodingKey { case code, message, phase, time }

        init(code: String, message: String, phase: String?, time: Double?) {
            (self.code, self.message, self.phase, self.time) = (code, message, phase, time)
        }

        init(from decoder: any Decoder) throws {
            if let text = try? decoder.singleValueContainer().decode(String.self) {
                browserText = text
                return
            }
            let values = try decoder.container(keyedBy: CodingKeys.self)
            code = try values.decode(String.self, forKey: .code)
            message = try values.decodeIfPresent(String.self, forKey: .message)
            phase = try values.decodeIfPresent(String.self, forKey: .phase)
            time = try values.decodeIfPresent(Double.self, forKey: .time)
        }
    }
}

/// A member that HAR requires and that is not read, whatever it is.
@propertyWrapper
struct WriteOnly<Value: Encodable>: Codable {
    var wrappedValue: Value?

    init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    init(from decoder: any Decoder) {}

    func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

extension KeyedDecodingContainer {
    /// Takes the place of the method that would throw for an absent member.
    func decode<Value>(_ type: WriteOnly<Value>.Type, forKey key: Key) throws -> WriteOnly<Value> {
        WriteOnly(wrappedValue: nil)
    }
}
