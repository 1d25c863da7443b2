import Foundation
import FoundationNetworking
import NetworkTesting

/// Timeouts.
extension URLSessionFaults {
    static let times: [FaultRow] = [
        FaultRow(
            "half-second",
            "a timeout of 0.5 s, and a response after 0.2 s",
            late(200),
            isRight: { $0.said == "200 'ok'" },
            probe: { try await $0.send(Ask(idleSeconds: 0.5)).text }
        ),
        FaultRow(
            "1.7-seconds",
            "a timeout of 1.7 s, and a response after 1.3 s",
            late(1_300),
            isRight: { $0.said == "200 'ok'" },
            probe: { try await $0.send(Ask(idleSeconds: 1.7)).text }
        ),
        FaultRow(
            "initialiser",
            "a timeout of 1 s set in the request's initializer, and no response",
            .stalled,
            patience: 5,
            isRight: { ["error -1001", "error idleTimeout"].contains($0.said) }
        ) { probe in
            guard probe.subject == .raw else { return try await probe.send(Ask(idleSeconds: 1)).text }
            guard let url = URL(string: probe.url) else { return "no URL" }
            let request = URLRequest(url: url, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 1)
            return await RawClient.send(request, over: RawClient.session).text
        },
        drip(
            "drip-body", "1 s in total, a trickling body", Script.head(200, fields: [("Content-Length", "400")]), "x"),
        drip("drip-head", "1 s in total, a trickling head", Data("HTTP/1.1 200 OK\r\n".utf8), "X-A: 1\r\n"),
    ]

    private static func late(_ milliseconds: Int) -> Script {
        [.read, .pause(.milliseconds(milliseconds)), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .close]
    }

    private static func drip(_ id: String, _ what: String, _ start: Data, _ drop: String) -> FaultRow {
        let drops = Data(String(repeating: drop, count: 400).utf8)
        return FaultRow(
            id,
            what,
            [.read, .send(start), .sendSplit(drops, each: drop.utf8.count, pause: .milliseconds(100)), .close],
            patience: 5,
            isRight: { ["error -1001", "error totalTimeout"].contains($0.said) },
            probe: { try await $0.send(Ask(totalSeconds: 1)).text }
        )
    }
}
