import Foundation
import NetworkLayer
import Synchronization

/// Extensions of the library that use only its public API: a transport, interceptors, an encoder, a form of response,
/// and an adapter to another library's transport. They run over the transport that NETWORK_TRANSPORT names:
///
///     Outside http://127.0.0.1:8080        the address of `netlayer serve`
@main
struct Outside {
    static func main() async {
        guard CommandLine.arguments.count == 2 else { fail("usage: Outside BASE-URL", status: 2) }
        do {
            let transport = try DefaultTransport.shared.selected
            let client = NetworkClient(transport: transport).with {
                $0.baseURL = CommandLine.arguments[1]
                $0.options.totalTimeout = .seconds(10)
            }
            try await ownTransport()
            try await signing(client)
            try await logging(client)
            try await recording(client)
            try await encoding(client)
            try await ownForm(client)
            let generated = OpenAPIChecks(check: check)
            try await generated.overNetwork(client, base: CommandLine.arguments[1])
            try await generated.inProcess()
            print("all over \(transport.name)")
        } catch {
            fail("\(error)", status: 1)
        }
    }

    /// The response of the demo server's `/echo`.
    struct Echo: Decodable {
        let bodyBase64: Data
        let headers: [[String]]

        var body: String { String(decoding: bodyBase64, as: UTF8.self) }

        func values(of name: String) -> [String] {
            headers.filter { $0[0].lowercased() == name }.map { $0[1] }
        }
    }

    private static func ownTransport() async throws {
        let shouting = InProcessTransport { request, body, response in
            guard request.url.path != "/silent" else { return try await Task.sleep(for: .seconds(3600)) }
            response.begin(HTTPResponse(status: request.method == .post ? .created : .ok))
            while let piece = try await body.next() {
                try await response.body.send(Data(String(decoding: piece, as: UTF8.self).uppercased().utf8))
            }
        }
        let client = NetworkClient(transport: shouting)
        let words = AsyncStream { continuation in
            for word in ["a ", "stream ", "both ", "ways"] { continuation.yield(Data(word.utf8)) }
            continuation.finish()
        }
        var request = TransportRequest(method: .post, url: try RequestURL("http://inside/"))
        request.body = .stream(words)
        request.options.requestCompression = .none
        let text = try await client.send(request, as: .text)
        try check("a third transport", text.status == .created && text.body == "A STREAM BOTH WAYS")

        let waiting = Task { try await client.send(RequestData(url: "http://inside/silent"), as: .data) }
        waiting.cancel()
        do {
            _ = try await waiting.value
            try check("a third transport, cancelled", false)
        } catch NetworkError.cancelled { try check("a third transport, cancelled", true) }
    }

    private static func signing(_ client: NetworkClient) async throws {
        // RFC 4231, test case 2, with the HMAC of the interceptor.
        var mac = HMAC(key: Data("Jefe".utf8))
        mac.update(Data("what do ya want for nothing?".utf8))
        let known = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        try check("HMAC", mac.finish().map { String(format: "%02x", $0) }.joined() == known)

        let signed = client.with { $0.exchangeInterceptors.append(HMACSigning(key: Data("key".utf8))) }
        let request = RequestData(path: "echo", method: .post, content: .text("pay 1"))
        let echo = try await signed.send(request, as: Echo.self).body
        try check("a signed body", echo.body == "pay 1" && echo.values(of: "x-signature").first?.count == 64)
    }

    private static func logging(_ client: NetworkClient) async throws {
        let lines = Mutex<[String]>([])
        let logged = client.with {
            $0.interceptors.append(
                BodyLogging(limit: 8) { what, bytes in
                    lines.withLock { $0.append("\(what): \(String(decoding: bytes, as: UTF8.self))") }
                })
        }
        let request = RequestData(path: "echo", method: .post, content: .text("a rather long text"))
        _ = try await logged.send(request, as: Echo.self).body
        let seen = lines.withLock { $0 }
        try check("logged bodies", seen.count == 2 && seen.contains("request: a rather"))
    }

    private static func recording(_ client: NetworkClient) async throws {
        let recorder = Recorder()
        let users = RequestData(path: "users")
        let live = try await client.with { $0.interceptors.append(recorder) }.send(users, as: .text).body
        let player = try Recorder(playing: recorder.recording)
        let offline = client.with {
            $0.interceptors.append(player)
        }
        let played = try await offline.send(users, as: .text).body
        try check("a recording", played == live)
        do {
            _ = try await offline.send(users, as: .text)
            try check("a recording's end", false)
        } catch let error as NetworkError { try check("a recording's end", error.code == .connectFailed) }
    }

    private static func encoding(_ client: NetworkClient) async throws {
        let request = RequestData(path: "echo", method: .post, content: .csv([["a", "b,c"], ["\"", "d"]]))
        let echo = try await client.send(request, as: Echo.self).body
        try check(
            "an encoder",
            echo.body == "a,\"b,c\"\r\n\"\"\"\",d"
                && echo.values(of: "content-type").first?.hasPrefix("text/csv") == true)
    }

    private static func ownForm(_ client: NetworkClient) async throws {
        let size = ResponseForm(headerFields: [.accept: "text/plain"]) { response in
            try await response.body.reduce(0) { $0 + $1.count }
        }
        let echo = RequestData(path: "echo", method: .post, content: .text("a,b"))
        let text = try await client.send(echo, as: ResponseForm.text.map { $0.split(separator: "\"") }).body
        try check("a form", try await client.send(RequestData(path: "users"), as: size).body > 0 && text.count > 1)
    }

    private static func check(_ what: String, _ holds: Bool) throws {
        guard holds else { throw Failed(what: what) }
        print("\(what): passed")
    }

    private struct Failed: Error, CustomStringConvertible {
        let what: String
        var description: String { "\(what): failed" }
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(status)
    }
}
