import Foundation
import Logging
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// Secrets of every kind over the wire, with every log switched on: libcurl's own log lines are input that no test
/// could invent.
@Suite("The canary on the wire", .patience(minutes: 5))
struct CanaryWireTests {
    /// What a server sends. A line feed in a value is followed by a space; otherwise a new field would begin.
    private static func sent(_ secret: CanarySecret) -> String {
        secret.value.replacingOccurrences(of: "\n", with: "\n ")
    }

    private static func check(_ secret: CanarySecret, _ text: String, _ what: String) {
        let forms = secret.forms(in: text)
        #expect(forms.isEmpty, "\(secret.kind): \(what) shows \(forms): \(text.prefix(3000))")
        #expect(!text.unicodeScalars.contains { $0 != "\n" && $0.isInvisible }, "\(what)")
    }

    /// Sends a request with every log on, and checks all that comes of it.
    /// - Returns: The text of the log.
    private static func checkExchange(
        of secret: CanarySecret, _ data: RequestData, _ change: (inout NetworkClient) -> Void = { _ in }
    ) async throws -> String {
        let log = CanaryLog()
        var client = NetworkClient(transport: CurlNetworkDispatcher())
        client.exchangeInterceptors = [.logging(log.logger)]
        client.options.wireLog = WireLog(log.logger)
        client.secretFields = [try #require(HTTPField.Name("X-Own"))]
        change(&client)
        let outcome: Any
        do { outcome = try await client.send(data, as: .data) } catch { outcome = error }
        check(secret, CanaryPrinter.all.map { $0.text(outcome) }.joined(separator: "\n"), "the outcome")
        check(secret, log.text, "the log")
        return log.text
    }

    @Test(arguments: CanarySecret.all)
    func `no wire log, error, or value shows a secret of an exchange`(secret: CanarySecret) async throws {
        let value = Self.sent(secret)
        let fields = [
            ("Set-Cookie", value), ("X-Auth-Token", value), ("WWW-Authenticate", "Basic realm=\"\(value)\""),
            ("Location", "http://u:\(secret.percentEncoded)@127.0.0.1/cb?code=\(value)#\(value)"), ("X-Shown", "yes"),
        ]
        try await withServer(.response(401, fields: fields, body: secret.data)) { server in
            var data = RequestData(path: server.url("/p?key=\(secret.percentEncoded)"), method: .post)
            data.content = .bytes(secret.data, contentType: "text/plain")
            data.headerFields = [
                "X-Api-Key": secret.percentEncoded, "X-Own": secret.percentEncoded, "Cookie": secret.percentEncoded,
            ]
            data.headerFields["Referer"] = "http://u:\(secret.percentEncoded)@h/?x=\(secret.percentEncoded)"
            let log = try await Self.checkExchange(of: secret, data) {
                $0.options.authentication = .digest(
                    user: secret.percentEncoded, password: .init(secret.percentEncoded))
            }
            #expect(log.contains("> X-Api-Key: …"))
        }
    }

    @Test(arguments: [" ", "\t", " \t "])
    func `blanks before a colon or after a scheme expose no secret, in a head of any kind`(blank: String) async throws {
        for secret in CanarySecret.all {
            // What splits a line ends the head early or turns the rest into another field.
            let value = secret.percentEncoded
            let fields = ["Set-Cookie", "X-Api-Key", "X-Own"].map { "\($0)\(blank): \(value)\r\n" }.joined()
            let head = "\(fields)X-Y: Bearer\t\(value)\r\nLocation\(blank): http://u:\(value)@h/?\(value)\r\n"
            let response =
                "HTTP/1.1 103 \(value)\r\n\(head)\r\nHTTP/1.1 200\t\(value)\r\n\(head)X-Shown: yes\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n0\r\n\(head)\r\n"
            try await withServer(.raw(response)) { server in
                let log = try await Self.checkExchange(of: secret, RequestData(path: server.url()))
                #expect(log.contains("< X-Api-Key"))
            }
        }
    }

    @Test(arguments: CanarySecret.all)
    func `nothing shows a secret when a proxy requires a password`(secret: CanarySecret) async throws {
        let challenge = [("Proxy-Authenticate", "Basic realm=\"\(Self.sent(secret))\"")]
        try await withServer(.response(407, fields: challenge, body: Data())) { server in
            let name = try #require(HTTPField.Name("X-Api-Key"))
            let log = try await Self.checkExchange(of: secret, RequestData(path: "http://name.invalid/")) {
                $0.validation = .any
                $0.options.proxy = .server(
                    server.baseURL, user: secret.percentEncoded, password: .init(secret.percentEncoded)
                ) { $0.headerFields[name] = secret.percentEncoded }
            }
            #expect(log.contains("407"))
        }
    }
}
