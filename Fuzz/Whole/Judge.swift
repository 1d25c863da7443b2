import Foundation
import NetworkCore

/// Checks the rules for a scenario's outcomes, and for the requests that the peer received.
struct Judge {
    let exchanges: [Exchange]
    let outcomes: [Outcome]
    let log: LineLog
    let peer: Peer

    func checkOutcomes() {
        let isConcurrent = exchanges.contains(where: \.ask.isJoined)
        let isCrossed = peer.seen.contains(where: \.crosses)
        for (exchange, outcome) in zip(exchanges, outcomes) {
            let isLate = outcome.code == .totalTimeout && exchange.totalTimeout >= .seconds(20)
            check(.prompt, !isLate, "\(exchange.number) waits for a peer that has finished: \(outcome.text)")
            // A folded line may append text to the number.
            let marks = outcome.marks.map { $0.prefix { $0.isNumber || $0 == "-" } }
            let isOwn = marks.allSatisfy { $0.isEmpty || $0 == "\(exchange.number)" || $0 == "-1" }
            // A stream has a number, so that nothing that the peer sends late is another one's.
            let isOverStreams = peer.seen.allSatisfy { $0.ask != exchange.number || $0.isStream }
            let isRight = isOwn || (!isOverStreams && (isConcurrent || isCrossed))
            check(.response, isRight, "\(exchange.number) has another request's response: \(outcome.text)")
        }
        checkPrinted()
    }

    private func checkPrinted() {
        let lines = outcomes.flatMap(\.printed) + log.lines
        for exchange in exchanges {
            for secret in exchange.tokens.unprintable + [Tokens.cookie + "\(exchange.number)"] {
                guard let line = lines.first(where: { $0.utf8.firstRange(of: secret.utf8) != nil }) else { continue }
                check(.printed, false, "\(secret) in: \(Text.line(of: line.utf8))")
            }
        }
    }

    func checkSeen() {
        let seen = peer.seen
        for request in seen { checkSecrets(of: request) }
        for exchange in exchanges where !exchange.ask.isIdempotent { checkRepeats(of: exchange, seen) }
    }

    private func checkSecrets(of request: Seen) {
        let bytes = request.head + request.body
        let owners = exchanges.filter { exchange in exchange.tokens.all.contains { Text.contains($0, in: bytes) } }
        let foreign = owners.first { $0.number != request.ask ?? owners.first?.number || request.good != nil }
        check(.secret, foreign == nil, "data of \(foreign?.number ?? 0) is in \(Text.line(of: request.head))")
        for exchange in owners where exchange.isOfOneOrigin {
            let isHome = request.values(of: "host") == [peer.address.authority(exchange.origin)]
            let leaked = isHome ? nil : exchange.tokens.secrets.first { Text.contains($0, in: request.head) }
            check(.secret, leaked == nil, "\(leaked ?? "") is sent to another origin")
        }
        if let ask = request.ask, exchanges.indices.contains(ask), !exchanges[ask].ask.has("cookies") {
            let cookies = request.values(of: "cookie").joined()
            check(.secret, !cookies.contains(Tokens.cookie), "another request's cookie is sent: \(cookies)")
        }
    }

    /// Requests may be repeated only if the peer requires it: with a redirect, for credentials, or without Expect.
    private func checkRepeats(of exchange: Exchange, _ seen: [Seen]) {
        let sent = seen.filter { $0.ask == exchange.number && $0.method != "CONNECT" }
        for (first, second) in zip(sent, sent.dropFirst()) where second.method == exchange.ask.method {
            // libcurl requests a challenge with an empty body, and then sends the body regardless of the response.
            let isQuestion = exchange.ask.has("auth") || exchange.ask.words["proxy"] == "digest"
            let isProbe = isQuestion && first.values(of: "content-length") == ["0"]
            let isAsked =
                isProbe || first.isRefused
                || ["30", "401", "407", "417"].contains { Text.contains($0, in: first.replied) }
            check(.once, isAsked, "\(exchange.ask.method) of \(exchange.number) is sent again")
        }
    }

    private func check(_ oracle: Oracle, _ holds: Bool, _ text: @autoclosure () -> String) {
        if !holds, oracle.isAsked { Finding(oracle: oracle, text: text()).report(peer.seen) }
    }
}

extension Exchange {
    /// Whether its URL names one of the peer's origins, without a proxy or another address, and `Host` can be read.
    var isOfOneOrigin: Bool { !ask.has("h2") && !ask.has("proxy") && !ask.has("tunnel") && !ask.has("named") }
}
