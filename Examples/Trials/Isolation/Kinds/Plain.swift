import Foundation
import HTTPTypes
import NetworkLayer

extension HTTPField.Name {
    static let mark = HTTPField.Name("X-Mark") ?? .userAgent
}

extension Kind {
    /// Requests without a body and with ordinary options.
    static let plain: [Kind] = [
        Kind("get"),
        Kind("get-two", at: .two),
        Kind("get-named", at: .named("localhost")),
        Kind("get-other-name", at: .named("other.localhost")),
        Kind("get-ipv6", at: .ipv6),
        Kind("head", .head),
        Kind("delete", .delete),
        Kind("options", .options),
        Kind("custom-method", HTTPRequest.Method(rawValue: "PURGE") ?? .get),
        Kind("get-query") { $1.url = try RequestURL($1.url.absoluteString + "?a=b&c=%20d") },
        Kind("get-fields") { place, request in
            for number in 0..<20 {
                request.headerFields.append(HTTPField(name: .mark, value: "\(place.kind) \(number)"))
            }
        },
        Kind("get-large-field") { $1.headerFields[.mark] = String(repeating: "large ", count: 8_000) },
        Kind("get-empty-field") { $1.headerFields[.mark] = "" },
        Kind("get-own-fields") {
            $1.headerFields[.accept] = "text/plain"
            $1.headerFields[.userAgent] = "agent-of-\($0.kind)"
            $1.headerFields[.acceptEncoding] = "identity"
        },
        Kind("get-cookie-field") { $1.headerFields[.cookie] = "session=cookie-of-\($0.kind);" },
        Kind("get-authorization") { $1.headerFields[.authorization] = "Bearer \($0.token)" },
        Kind("get-range") { $1.headerFields[.range] = "bytes=1-3" },
        Kind("get-referer") { $1.headerFields[.referer] = "http://from.test/\($0.token)" },
        Kind("get-raw") { $1.options.decompress = false },
        Kind("get-encodings") { $1.options.acceptedEncodings = [.brotli, .gzip] },
        Kind("get-version-1.0") { $1.options.httpVersion = .http1_0 },
        Kind("get-version-1.1") { $1.options.httpVersion = .http1_1 },
        Kind("get-version-2") { $1.options.httpVersion = .http2 },
        Kind("get-version-2-prior") { $1.options.httpVersion = .http2PriorKnowledge },
        Kind("post-version-1.0", .post) {
            $1.options.httpVersion = .http1_0
            $1.body = .bytes(Data("old".utf8))
        },
    ]
}
