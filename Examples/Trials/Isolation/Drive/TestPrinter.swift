import Foundation
import HTTPTypes

/// Prints a failing sequence as a test, to be pasted into the tests of the transport.
///
/// A scripted server sends what the peer sent, connection by connection, and the last request is also sent alone over a
/// new dispatcher.
/// dispatcher too.
struct TestPrinter {
    let steps: [Step]
    let title: String
    /// The peer's steps on each connection, in the sequence and for the last step alone.
    let scripts: [[String]]
    let scriptsAlone: [[String]]

    var text: String {
        var lines = [
            "@Test(\(SwiftText.literal("\(steps.last?.kind.name ?? "") is what it is alone, after \(before)")))",
            "func isolated() async throws {", "    // \(title)", "    // scripts/isolation --try \(steps.text)",
        ]
        lines += server("server", scripts) + server("other", scriptsAlone)
        lines += [
            "    var configuration = CurlNetworkDispatcher.Configuration()",
            "    configuration.maximumConnectionsPerOrigin = 1", "    configuration.maximumQueued = 1",
            "    let dispatcher = CurlNetworkDispatcher(configuration: configuration)",
        ]
        for (index, step) in steps.enumerated().dropLast() { lines += earlier(step, index) }
        if let last = steps.last { lines += final(last) }
        return (lines + ["}"]).joined(separator: "\n")
    }

    private var before: String {
        steps.dropLast().map { "\($0.kind.name) (\($0.outcome.name))" }.joined(separator: ", ")
    }

    private func server(_ name: String, _ scripts: [[String]]) -> [String] {
        let parts = scripts.map { "        [" + $0.joined(separator: ", ") + ", .stall]" }
        return ["    let \(name) = try ScriptedServer(", parts.joined(separator: ",\n"), "    )"]
    }

    /// Returns the function that creates a step's request for a server's port.
    private func request(_ step: Step, _ number: Int) -> [String] {
        let host =
            switch step.kind.site {
            case .named(let host), .secure(let host): host
            case .ipv6: "[::1]"
            case .proxied: "proxied.test"
            case .one, .two: "127.0.0.1"
            }
        let path = "/\(step.outcome.name)/s\(number)/\(step.kind.name)"
        let scheme = step.kind.isSecure ? "https" : "http"
        let method = ".init(\(SwiftText.literal(step.kind.method.rawValue)))!"
        let change = source(of: step.kind).map { "            " + $0 }
        return [
            "        func request(_ port: Int) throws -> TransportRequest {",
            "            let place = IsolationPlace(\(SwiftText.literal(step.kind.name)), port: port)",
            "            let url = try RequestURL(\"\(scheme)://\(host):\\(port)\(path)\")",
            "            var request = TransportRequest(method: \(method), url: url)",
        ] + change + ["            _ = place", "            return request", "        }"]
    }

    private func earlier(_ step: Step, _ number: Int) -> [String] {
        let limit: [String] =
            switch step.outcome.act {
            case .sendRefused: ["        first.options.rate.maximumSentPerSecond = 0"]
            case .timeOutQueued: ["        first.options.totalTimeout = .milliseconds(20)"]
            case .timeOut(.connect): ["        first.options.connectTimeout = .milliseconds(40)"]
            case .timeOut(.idle): ["        first.options.idleTimeout = .milliseconds(40)"]
            case .timeOut(.total): ["        first.options.totalTimeout = .milliseconds(60)"]
            default: []
            }
        return ["    do {  // \(step)"] + request(step, number)
            + ["        \(limit.isEmpty ? "let" : "var") first = try request(Int(server.port))"] + limit + act(step) + [
                "    }"
            ]
    }

    /// Returns the caller's actions for the outcome. A comment says where another request must take the place first.
    private func act(_ step: Step) -> [String] {
        switch step.outcome.act {
        case .cancel, .cancelAfter, .cancelQueued:
            let wait = step.outcome.act == .cancelQueued ? "// … once another request holds the origin's place" : ""
            return [
                "        let task = Task { [first] in try await dispatcher.send(first).body.collect() }",
                "        try await server.wait { $0.connectionCount > 0 }  \(wait)",
                "        task.cancel()", "        _ = try? await task.value",
            ]
        case .timeOutQueued, .sendOverloaded:
            return [
                "        // … while another request holds the origin's place",
                "        _ = try? await dispatcher.send(first).body.collect()",
            ]
        case .cancelBody, .dropBody: return ["        _ = try await dispatcher.send(first)"]
        default: return ["        _ = try? await dispatcher.send(first).body.collect()"]
        }
    }

    private func final(_ step: Step) -> [String] {
        let number = steps.count - 1
        return ["    do {  // \(step)"] + request(step, number) + [
            "        let after = await IsolationPlace.outcome(of: try request(Int(server.port)), over: dispatcher)",
            "        let alone = await IsolationPlace.outcome(",
            "            of: try request(Int(other.port)), over: CurlNetworkDispatcher())",
            "        #expect(after == alone)",
            "        let path = \"/\(step.outcome.name)/s\(number)/\"",
            "        let (seen, seenAlone) = (server.heads(with: path), other.heads(with: path))",
            "        #expect(seen == seenAlone)", "    }",
        ]
    }

    /// Returns the source of a kind's change from its file, in the terms of the test.
    private func source(of kind: Kind) -> [String] {
        guard let text = try? String(contentsOfFile: kind.file, encoding: .utf8) else {
            return ["// the options of '\(kind.name)', in \(kind.file)"]
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.indices.contains(kind.line - 1) else { return [] }
        var taken = [lines[kind.line - 1]]
        for line in lines[kind.line...] {
            let start = line.trimmingCharacters(in: .whitespaces)
            if start.hasPrefix("Kind(") || start == "]" { break }
            taken.append(line)
        }
        var change = taken.joined(separator: "\n")
        guard let open = change.firstIndex(of: "{"), let close = change.lastIndex(of: "}"), open < close else {
            return []
        }
        change = String(change[change.index(after: open)..<close])
        for (old, new) in [(" place, request in\n", ""), ("$0", "place"), ("$1", "request")] {
            change = change.replacing(old, with: new)
        }
        return change.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// The declarations that the tests need once, in addition.
    static let support = """
        /// The ports and credentials of a kind of request, and the text of an outcome.
        private struct IsolationPlace {
            let kind: String
            let one: Int
            var (two, proxyPort, silent): (Int, Int, Int)
            var user: String { "user-\\(kind)" }
            var password: TransportOptions.Secret { TransportOptions.Secret("pw-\\(kind);") }
            var token: String { "token-\\(kind);" }

            init(_ kind: String, port: Int) {
                (self.kind, one, two, proxyPort, silent) = (kind, port, port, port, port)
            }

            func proxy(_ scheme: String = "http", isNamed: Bool = false) -> TransportOptions.Proxy.Server {
                let url = "\\(scheme)://127.0.0.1:\\(proxyPort)"
                return isNamed ? .init(url, user: user, password: password) : .init(url)
            }

            static func outcome(of request: TransportRequest, over dispatcher: CurlNetworkDispatcher) async -> String {
                do {
                    let response = try await dispatcher.send(request)
                    let body = try await response.body.collect()
                    return "\\(response.status.code) \\(String(decoding: body, as: UTF8.self))"
                } catch { return NetworkError.code(of: error)?.rawValue ?? "\\(error)" }
            }
        }

        extension ScriptedServer {
            /// Returns the heads of the requests for a path, without the port.
            fileprivate func heads(with path: String) -> [String] {
                requests.filter { $0.target.contains(path) }.map { $0.head.replacing(":\\(port)", with: "") }
            }
        }

        private enum Bodies {
            static func bytes(_ count: Int) -> Data {
                Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })
            }
            static let (large, medium) = (bytes(1_500_000), bytes(20_000))
            static func chunks(_ sizes: [Int]) -> AsyncStream<Data> {
                AsyncStream { stream in
                    for size in sizes { stream.yield(bytes(size)) }
                    stream.finish()
                }
            }
        }
        """
}
