import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// Statuses with their bodies, and the limits of both.
@Suite(.patience(minutes: 1))
struct StatusContract {
    private static let any = [
        200, 201, 203, 206, 226, 299, 300, 400, 402, 403, 404, 405, 409, 410, 418, 429, 451, 499, 500, 502, 503, 599,
    ].map { status in
        ContractCase("\(status)", to: .response(status, fields: [("X-A", "b")], body: Data("body".utf8))) {
            #expect($0.status == status && $0.text == "body" && $0.values(of: "X-A") == ["b"])
        }
    }

    /// Returns cases of a status that a transport might act upon, to a GET and a POST, which each go out once.
    private static func handedBack(_ status: Int, _ field: (String, String)) -> [ContractCase] {
        [HTTPRequest.Method.get, .post].map { method in
            ContractCase(
                "\(status) with \(field.1) to \(method.rawValue)", method, body: method == .post ? Data("x".utf8) : nil,
                to: .response(status, fields: [field], body: Data("the body".utf8))
            ) {
                #expect($0.status == status && $0.text == "the body" && $0.values(of: field.0) == [field.1])
                #expect($0.request?.target == "/")
            }
        }
    }

    private static let unanswered =
        ["Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\"", "Bearer"]
        .flatMap { handedBack(401, ("WWW-Authenticate", $0)) }
        // From a server, and no proxy.
        + handedBack(407, ("Proxy-Authenticate", "Basic realm=\"p\""))
        + [301, 302, 303, 307, 308].flatMap { handedBack($0, ("Location", "/next")) }
        + ["//[::1]/x", "//a%20b/x", "http://[", "::", "http://a b/"].map { location in
            ContractCase(
                "302 to \(location)", to: .response(302, fields: [("Location", location)]),
                exclusion: location.hasPrefix("//") ? .redirectToOddHost : nil
            ) { #expect($0.status == 302 && $0.values(of: "Location") == [location]) }
        }
        + [301, 302, 303, 305, 306, 307, 308].map { status in
            ContractCase(
                "\(status) without Location", .response(status, body: Data("nowhere".utf8)),
                .response(status, "nowhere"), exclusion: .redirectWithoutLocation)
        } + [
            // A 304 response states the length of the body that it does not have.
            ContractCase(
                "304 that announces more than the limit",
                .raw(Script.head(304, fields: [("Content-Length", "1000000000")])), .response(304, ""),
                change: { $0.maximumBodyBytes = 10 })
        ]

    @Test(arguments: ContractTransport.all, any + unanswered)
    func `any status is a response with its body`(transport: ContractTransport, message: ContractCase) async throws {
        try await message.check(over: transport)
    }

    @Test(arguments: ContractTransport.all, [204, 304])
    func `a status without body ends at the blank line`(transport: ContractTransport, status: Int) async throws {
        let head = Script.head(status, fields: [("ETag", "\"1\"")])
        try await withServer([.forEachRequest([.send(head)])]) { server in
            for _ in 0..<2 {
                let answer = try await transport.send(.get, server.url())
                #expect(answer.status == status && answer.body.isEmpty && answer.values(of: "ETag") == ["\"1\""])
            }
            try await transport.run(.immediateReuse) { #expect(server.connectionCount == 1) }
        }
    }

    // MARK: Limits

    private static let size = 100_000
    private static let text = String(decoding: PatternBytes.make(count: size), as: UTF8.self)
    private static let chunked = Script.head(200, fields: [("Transfer-Encoding", "chunked")]) + Data("186a0\r\n".utf8)
    private static let framings: [(name: String, script: Script)] = [
        ("known length", .response(body: PatternBytes.make(count: size))),
        ("chunked", .raw(chunked + PatternBytes.make(count: size) + Data("\r\n0\r\n\r\n".utf8))),
        ("until the close", .raw(Script.head(200) + PatternBytes.make(count: size))),
    ]

    private static let limits: [ContractCase] =
        framings.flatMap { framing in
            [size, size - 1, 1, 0].map { limit in
                ContractCase(
                    "\(framing.name), a limit of \(limit)", framing.script,
                    limit == size ? .response(200, text) : .failure(.bodyTooLarge),
                    change: { $0.maximumBodyBytes = limit })
            }
        } + [
            ContractCase(
                "a limit of 0 takes an empty body", .ok(), .response(200, ""), change: { $0.maximumBodyBytes = 0 }),
            ContractCase(
                "large fields",
                .response(fields: Array(repeating: ("X-Long", String(repeating: "v", count: 90_000)), count: 6)),
                .failure(.responseHeadTooLarge), exclusion: .largeHead),
            ContractCase(
                "a large field", .response(fields: [("X-Long", String(repeating: "v", count: 150_000))]),
                .failure(.responseHeadTooLarge), exclusion: .largeHead),
        ]

    @Test(arguments: ContractTransport.all, limits)
    func `a limit is exact`(transport: ContractTransport, message: ContractCase) async throws {
        try await message.check(over: transport)
    }

    @Test(arguments: ContractTransport.all)
    func `an endless body is cut off at the limit`(transport: ContractTransport) async throws {
        let flood = Script.Step.flood(PatternBytes.make(count: 1 << 16))
        try await withServer([.read, .send(Script.head(200)), flood]) { server in
            await expectFailure(.bodyTooLarge) {
                try await transport.send(.get, server.url()) { $0.maximumBodyBytes = 1 << 20 }
            }
            try await server.wait { $0.connectionsEndedByPeer == 1 }
        }
    }
}
