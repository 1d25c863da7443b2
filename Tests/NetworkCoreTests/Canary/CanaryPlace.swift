import Foundation
import NetworkCore
import TestSupport

@testable import NetworkTesting

/// A place where a caller can put a secret, and the values that then contain it.
struct CanaryPlace: Sendable {
    let name: String
    /// Returns the values that contain the secret. A thrown error is printed too: it must not show the refused value.
    let values: @Sendable (CanarySecret) throws -> [Any]

    init(_ name: String, _ values: @escaping @Sendable (CanarySecret) throws -> [Any]) {
        self.name = name
        self.values = values
    }

    /// Returns the values, or the error.
    func exhibits(_ secret: CanarySecret) -> [Any] {
        do { return try values(secret) } catch { return [error] }
    }

    /// A place in a `RequestData`, with the transport request that results from it.
    static func described(_ name: String, _ make: @escaping @Sendable (CanarySecret) throws -> RequestData)
        -> CanaryPlace
    {
        CanaryPlace(name) { secret in
            let data = try make(secret)
            do {
                return [data] + exhibits(of: try data.transportRequest())
            } catch {
                return [data, error]
            }
        }
    }

    /// A place in a request as a transport receives it.
    static func request(
        _ name: String, _ change: @escaping @Sendable (inout TransportRequest, CanarySecret) throws -> Void
    ) -> CanaryPlace {
        CanaryPlace(name) { secret in
            var request = TransportRequest(method: .post, url: try RequestURL("https://example.com/path"))
            try change(&request, secret)
            return exhibits(of: request)
        }
    }

    /// A place in a request's options.
    static func option(
        _ name: String, _ change: @escaping @Sendable (inout TransportOptions, CanarySecret) -> Void
    ) -> CanaryPlace {
        .request(name) { request, secret in change(&request.options, secret) }
    }

    private static let everything = TransportCapabilities(
        transport: "a test", basis: "a test", supported: Set(TransportCapabilities.Capability.wellKnown))

    /// Returns the request, its parts, its curl command, and the error of its check.
    private static func exhibits(of request: TransportRequest) -> [Any] {
        let options = request.options
        var parts: [Any] = [
            request, request.url, options, request.curlCommand(), NetworkClient.Call(), options.redirects(of: request),
        ]
        if let body = request.body { parts.append(body) }
        parts += [options.tls, options.tls.authorities, options.proxy, options.connection]
        parts += [options.names, options.rate, options.addressPolicy]
        if let authentication = options.authentication { parts.append(authentication) }
        if case .awsSigV4(let signature)? = options.authentication { parts.append(signature) }
        if case .explicit(let proxy) = options.proxy { parts.append(proxy) }
        if let certificate = options.tls.clientCertificate { parts += [certificate, certificate.certificate] }
        do { try request.check(for: everything) } catch { parts.append(error) }
        return parts
    }
}

extension TransportOptions {
    fileprivate func redirects(of request: TransportRequest) -> RedirectPolicy.Redirect {
        RedirectPolicy.Redirect(status: .found, from: request.url, to: request.url, method: request.method)
    }
}

/// Values that tests print: requests that a stub or a server has received, and their responses.
extension CanaryPlace {
    static let testing: [CanaryPlace] = [
        CanaryPlace("a request that a server has read") { secret in
            [
                "GET /p?token=\(secret.value) HTTP/1.1", "GET /p?token=\(secret.percentEncoded) HTTP/1.1",
                "GET http://u:\(secret.percentEncoded)@h/p?key=\(secret.percentEncoded) HTTP/1.1",
                "GET /p#\(secret.percentEncoded) HTTP/1.1", "GET \(secret.value)", secret.value,
            ].flatMap { line in received("\(line)\r\nCookie: sid=\(secret.value)", secret) }
        },
        CanaryPlace("the fields of a request that a server has read") { secret in
            secretNames.flatMap { received("POST /p HTTP/1.1\r\n\($0): \(secret.value)", secret) }
        },
        CanaryPlace("a stub's answer") { secret in
            let fields: HTTPFields = [.setCookie: secret.value]
            let answers: [StubResponse] = [
                .text(secret.value, headerFields: fields), .json(["password": secret.value]),
                .status(401, headerFields: fields),
                .chunks([secret.data, secret.data]), .bytes(secret.data).after(.seconds(1)),
                .failure(Own(secret: secret.value)), .computed { _ in .text(secret.value) },
                .bytes(secret.data, headerFields: [.location: "http://u:\(secret.value)@h/?k=\(secret.value)"]),
            ]
            return answers + [StubTransport(always: answers[0])]
        },
        CanaryPlace("a server's script") { secret in
            let scripts: [Script] = [
                .ok(secret.value), .raw(secret.value), .response(fields: [("Set-Cookie", secret.value)]),
                [.read, .sendSplit(secret.data, each: 3), .flood(secret.data), .forEachRequest([.send(secret.value)])],
                [.readHead, .readBody(5), .pause(.milliseconds(1)), .wait(until: Gate()), .open(Gate()), .stall],
                [.read, .reset, .close],
            ]
            let server = try ScriptedServer(scripts: scripts)
            defer { server.stop() }
            return scripts + scripts.flatMap(\.steps) + [server]
        },
    ]

    private struct Own: Error {
        let secret: String
    }

    private static func received(_ head: String, _ secret: CanarySecret) -> [Any] {
        [ReceivedRequest(head: head, body: secret.data, connection: 0)]
    }
}

extension CanaryExchange {
    static let testing: [CanaryExchange] = [
        CanaryExchange("what a stub was asked", { _ in [] }) { client, secret in
            let stub = StubTransport().when(.get("/other"), .text(secret.value))
            var other = NetworkClient(transport: stub)
            other.interceptors = client.interceptors
            other.exchangeInterceptors = client.exchangeInterceptors
            let requests = [
                RequestData(path: "http://h/p?token=\(secret.percentEncoded)#\(secret.percentEncoded)"),
                RequestData(path: "http://h/p", query: ["key": .string(secret.value)]),
                RequestData(path: "http://u:\(secret.percentEncoded)@h/p"),
                RequestData(path: "http://h/p", headerFields: ["Authorization": secret.value, "X-Own": "1"]),
                RequestData(path: "http://h/p", method: .post, parameters: ["password": .string(secret.value)]),
            ]
            var seen: [Any] = []
            for request in requests {
                do { _ = try await other.send(request, as: .data) } catch { seen.append(error) }
            }
            do { try stub.checkAllUsed() } catch { seen.append(error) }
            return seen + [stub, stub.sent] + stub.sent
        },
        CanaryExchange("what a test waits for at a server", { _ in [] }) { _, secret in
            let server = try ScriptedServer([.read, .stall])
            defer { server.stop() }
            let (socket, _) = try LoopbackSocket.connecting(to: server.port, limit: 10_000)
            defer { socket.close() }
            let fields = "Authorization: \(secret.percentEncoded)"
            _ = socket.send(Data("GET /p?a=\(secret.percentEncoded) HTTP/1.1\r\n\(fields)\r\n\r\n".utf8))
            var seen: [Any] = []
            try await server.wait { !$0.requests.isEmpty }
            do {
                try await server.wait(atMost: .milliseconds(1)) { progress in
                    seen.append(progress)
                    return false
                }
            } catch { seen.append(error) }
            return seen
        },
    ]
}
