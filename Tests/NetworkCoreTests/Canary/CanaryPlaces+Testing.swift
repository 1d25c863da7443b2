import Foundation
import NetworkCore
import TestSupport

@testable import NetworkTesting

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
