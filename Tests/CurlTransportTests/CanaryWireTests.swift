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

    private static func printed(_ value: Any) -> String {
        CanaryPrinter.all.map { $0.text(value) }.joined(separator: "\n")
    }

    @Test(arguments: CanarySecret.all)
    func `no wire log, error, or value shows a secret of an exchange`(secret: CanarySecret) async throws {
        let value = Self.sent(secret)
        let fields = [
            ("Set-Cookie", value), ("X-Auth-Token", value), ("WWW-Authenticate", "Basic realm=\"\(value)\""),
            ("Location", "http://u:\(secret.percentEncoded)@127.0.0.1/cb?code=\(value)#\(value)"), ("X-Shown", "yes"),
        ]
        try await withServer(.response(401, fields: fields, body: secret.data)) { server in
            let log = CanaryLog()
            var client = NetworkClient(transport: CurlNetworkDispatcher())
            client.exchangeInterceptors = [.logging(log.logger)]
            client.options.wireLog = WireLog(log.logger)
            client.secretFields = [try #require(HTTPField.Name("X-Own"))]
            client.options.authentication = .digest(
                user: secret.percentEncoded, password: TransportOptions.Secret(secret.percentEncoded))
            var data = RequestData(path: server.url("/p?key=\(secret.percentEncoded)"), method: .post)
            data.content = .bytes(secret.data, contentType: "text/plain")
            data.headerFields = [
                "X-Api-Key": secret.percentEncoded, "X-Own": secret.percentEncoded, "Cookie": secret.percentEncoded,
            ]
            data.headerFields["Referer"] = "http://u:\(secret.percentEncoded)@h/?x=\(secret.percentEncoded)"
            do {
                let response = try await client.send(data, as: .data)
                Self.check(secret, Self.printed(response), "the response")
            } catch {
                Self.check(secret, Self.printed(error), "the error")
            }
            #expect(log.text.contains("> X-Api-Key: …"))
            Self.check(secret, log.text, "the log")
        }
    }

    @Test(arguments: [" ", "\t", " \t "])
    func `blanks before a colon or after a scheme expose no secret, in a head of any kind`(blank: String) async throws {
        for secret in CanarySecret.all {
            // What splits a line ends the head early or turns the rest into another field.
            let value = secret.percentEncoded
            let fields = ["Set-Cookie", "X-Api-Key", "X-Own"].map { "\($0)\(blank): \(value)\r\n" }.joined()
            let head = "\(fields)X-Y: Bearer\t\(value)\r\nLocation\(blank): http://u:\(value)@h/?\(value)\r\n"
            let server = try ScriptedServer(
                .raw(
                    "HTTP/1.1 103 \(value)\r\n\(head)\r\nHTTP/1.1 200\t\(value)\r\n\(head)X-Shown: yes\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n0\r\n\(head)\r\n"))
            defer { server.stop() }
            let log = CanaryLog()
            var client = NetworkClient(transport: CurlNetworkDispatcher())
            client.exchangeInterceptors = [.logging(log.logger)]
            client.options.wireLog = WireLog(log.logger)
            client.secretFields = [try #require(HTTPField.Name("X-Own"))]
            do {
                Self.check(
                    secret, Self.printed(try await client.send(RequestData(path: server.url()), as: .data)),
                    "the response"
                )
            } catch {
                Self.check(secret, Self.printed(error), "the error")
            }
            #expect(log.text.contains("< X-Api-Key"))
            Self.check(secret, log.text, "the log")
        }
    }

    @Test(arguments: CanarySecret.all)
    func `nothing shows a secret when a proxy requires a password`(secret: CanarySecret) async throws {
        let challenge = [("Proxy-Authenticate", "Basic realm=\"\(Self.sent(secret))\"")]
        try await withServer(.response(407, fields: challenge, body: Data())) { server in
            let log = CanaryLog()
            var client = NetworkClient(transport: CurlNetworkDispatcher())
            client.validation = .any
            client.exchangeInterceptors = [.logging(log.logger)]
            client.options.wireLog = WireLog(log.logger)
            var proxy = TransportOptions.Proxy.Server(
                server.url(""), user: secret.percentEncoded, password: TransportOptions.Secret(secret.percentEncoded))
            proxy.headerFields[try #require(HTTPField.Name("X-Api-Key"))] = secret.percentEncoded
            client.options.proxy = .explicit(proxy)
            do {
                Self.check(
                    secret, Self.printed(try await client.send(RequestData(path: "http://name.invalid/"), as: .data)),
                    "the response")
            } catch {
                Self.check(secret, Self.printed(error), "the error")
            }
            #expect(log.text.contains("407"))
            Self.check(secret, log.text, "the log")
        }
    }
}
