import Foundation
import NetworkCore
import NetworkLayerTutorials
import TestSupport

extension CanaryPlace {
    /// Names of fields that carry credentials, as documented by various services.
    static let secretNames = [
        "Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "X-Auth-Key", "X-Auth-Email-Token",
        "Ocp-Apim-Subscription-Key", "X-Functions-Key", "Cf-Access-Jwt-Assertion", "CF-Access-Client-Secret",
        "X-Amz-Security-Token", "X-Vault-Token", "Private-Token", "X-Shopify-Access-Token", "DD-Application-Key",
        "X-Algolia-API-Key", "X-Parse-REST-API-Key", "X-Zumo-Auth", "X-Figma-Token", "Api_Key", "X_Access_Token",
        "X-Hub-Signature-256", "X-Sign", "X-Signature", "X-Session-Id", "X-CSRF-Token", "X-XSRF-Token", "X-GitHub-OTP",
        "X-Passwd", "X-Password", "X-User-Pwd", "X-Client-Credentials", "X-AccessKey", "X-MS-Token-AAD-Id-Token",
        "X-Saml-Assertion", "X-Goog-Iam-Authorization-Token", "Authentication-Info", "Idempotency-Key", "Last-Event-ID",
        "X-Own",
    ]

    /// All places in a request.
    static let requests: [CanaryPlace] =
        secretNames.map { name in
            .request("the field \(name)") { request, secret in
                if name == "X-Own" { request.options.secretFields = [.init("X-Own")!] }
                request.headerFields.append(HTTPField(name: .init(name)!, value: secret.value))
            }
        } + fields + urls + bodies

    private static let fields: [CanaryPlace] = [
        .request("Referer's password") { request, secret in
            request.headerFields[.init("Referer")!] = "https://u:\(secret.percentEncoded)@h/p"
        },
        .request("Referer's query") { request, secret in
            request.headerFields[.init("Referer")!] = "https://h/p?x=\(secret.value)"
        },
        .request("a URL in a field of one's own") { request, secret in
            request.headerFields[.init("X-Source")!] =
                "https://u:\(secret.percentEncoded)@h/?sig=\(secret.percentEncoded)"
        },
        .request("a Bearer token in a field of another name") { request, secret in
            request.headerFields[.init("X-Forwarded")!] = "Bearer \(secret.value)"
        },
        .described("a field of a description") { secret in
            RequestData(path: "http://h/", headerFields: ["Authorization": secret.value])
        },
        .described("a field's name that has its value in it") { secret in
            RequestData(path: "http://h/", headerFields: ["Authorization: Bearer \(secret.value)": ""])
        },
        .described("a field of a kind that can't be sent") { secret in
            URLRequestBuilder(with: URL(string: "http://h/")!, path: "a").set(headers: ["X-Key": [secret.value]]).data
        },
        CanaryPlace("a method that has a value in it") { [try HTTPRequest.Method(checking: "GET \(secret($0))")] },
    ]

    private static func secret(_ secret: CanarySecret) -> String { secret.value }

    private static let urls: [CanaryPlace] = [
        .described("a query") { RequestData(path: "https://h/p?key=\($0.value)") },
        .described("an encoded query") { RequestData(path: "https://h/p?key=\($0.percentEncoded)&b=1") },
        .described("a query without a name") { RequestData(path: "https://h/p?\($0.percentEncoded)") },
        .described("a query that ends in =") { RequestData(path: "https://h/p?\($0.percentEncoded)==") },
        .described("a fragment") { RequestData(path: "https://h/p#access_token=\($0.value)") },
        .described("a URL's password") { RequestData(path: "https://user:\($0.value)@h/p") },
        .described("a URL's encoded password") { RequestData(path: "https://user:\($0.percentEncoded)@h/p") },
        .described("a URL's user") { RequestData(path: "https://\($0.percentEncoded):@h/p") },
        .described("a user without a password") { RequestData(path: "https://\($0.percentEncoded)@h/p") },
        .described("a base URL's password") {
            RequestData(path: "p", baseURL: "https://user:\($0.percentEncoded)@h/")
        },
        .described("a base URL's query") { RequestData(path: "p", baseURL: "https://h/?key=\($0.value)") },
        .described("the query of a description") { RequestData(path: "http://h/", query: ["key": .string($0.value)]) },
        .described("the parameters of a description") {
            RequestData(path: "http://h/", parameters: ["key": .string($0.value), "list": [.string($0.value)]])
        },
        .described("the key of an endpoint") { KeyedEndpoint(apiKey: "api_key=\($0.percentEncoded)").data },
        CanaryPlace("a request builder") { secret in
            let url = URL(string: "https://u:\(secret.percentEncoded)@h/?key=\(secret.percentEncoded)")!
            let builder = URLRequestBuilder(with: url, path: "a")
            return [
                builder.set(headers: ["X-Api-Key": secret.value]).set(parameters: .url(["key": secret.value])),
                builder.data, RequestParams.body(["a": secret.value]), RequestParams.url(["a": secret.value]),
            ]
        },
        CanaryPlace("an endpoint's task") { secret in
            [
                HTTPTask.requestParameters(bodyParameters: ["a": secret.value], urlParameters: ["b": secret.value]),
                HTTPTask.requestParametersAndHeaders(
                    bodyParameters: nil, urlParameters: nil, additionHeaders: ["Authorization": secret.value]),
            ]
        },
        CanaryPlace("an exchange's URL") { secret in
            let url = "https://u:\(secret.value)@h/p?key=\(secret.value)#\(secret.value)"
            var exchange = NetworkError.Exchange(method: "GET", url: url, transport: "curl", elapsed: .zero)
            exchange.url = url
            var error = NetworkError(.connectFailed, "no connection")
            error.exchange = exchange
            return [exchange, error]
        },
    ]

    private struct KeyedEndpoint: Endpoint {
        var base: String { "https://h/" }
        var path: String { "p" }
        let apiKey: String
    }

    private static let bodies: [CanaryPlace] = [
        .request("a body") { request, secret in request.body = .bytes(secret.data) },
        .request("a streamed body") { request, secret in
            request.body = .stream(AsyncStream { $0.yield(secret.data) }, length: secret.data.count)
        },
        .request("a packed body") { request, secret in
            request.body = .bytes(secret.data)
            request.options.requestCompression = .gzip(level: 1)
        },
        .content("JSON") { .json(["password": $0.value]) },
        .content("JSON that can't be encoded") { .json(Unencodable(secret: $0.value)) },
        .content("a form") { .form(["password": .string($0.value)]) },
        .content("the field of a multipart form") { .multipart([.field("a", $0.value)]) },
        .content("the name of a multipart form's field") { .multipart([.field($0.value, "a")]) },
        .content("the name of a file") {
            .multipart([.bytes("a", Data(), fileName: $0.value, contentType: nil)])
        },
        .content("the bytes of a file") { .multipart([.bytes("a", $0.data)]) },
        CanaryPlace("the parts of a multipart form") { secret in
            [
                MultipartPart.field("a", secret.value), MultipartPart.field(secret.value, "a"),
                MultipartPart.bytes("a", secret.data, fileName: secret.value),
            ]
        },
    ]

    /// A place in the content of a `RequestData`, with its encoded form.
    private static func content(
        _ name: String, _ make: @escaping @Sendable (CanarySecret) -> RequestContent
    ) -> CanaryPlace {
        CanaryPlace(name) { secret in
            let content = make(secret)
            let data = RequestData(path: "http://h/", method: .post, content: content)
            do {
                return [data, content, try content.encoded(), try data.transportRequest()]
            } catch {
                return [data, content, error]
            }
        }
    }

    private struct Unencodable: Encodable, Sendable {
        let secret: String

        func encode(to encoder: any Encoder) throws {
            throw EncodingError.invalidValue(secret, .init(codingPath: [], debugDescription: "no \(secret) here"))
        }
    }
}
