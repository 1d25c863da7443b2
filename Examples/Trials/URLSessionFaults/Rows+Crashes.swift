import Foundation
import FoundationNetworking
import NetworkLayer
import NetworkTesting
import TrialSupport

/// Crashes, hangs, and damage that is not reported.
extension URLSessionFaults {
    static let crashes: [FaultRow] = [
        FaultRow(
            "challenge",
            "401 with a Basic challenge, and no credentials",
            .raw("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 6\r\n\r\ndenied"),
            isRight: { $0.said == "401 'denied'" }
        ),
        FaultRow(
            "trailers",
            "trailers",
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-After: it\r\n\r\n"),
            excluded: [.urlsession],
            isRight: { $0.said == "200 'ok'" }
        ),
        FaultRow(
            "early-end",
            "the server closes within the head",
            .raw("HTTP/1.1 200 OK\r\nContent-Le"),
            excluded: [.urlsession],
            isRight: { $0.said == "error connectionLost" }
        ),
        FaultRow(
            "huge-length",
            "a Content-Length of 2^63-1",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nok"),
            excluded: [.urlsession],
            isRight: { $0.said.hasPrefix("error ") }
        ),
        killed(
            "killed", "a POST on a kept connection that the server closes",
            Ask(method: "POST", body: Data(count: 10_000))),
        killed(
            "killed-stream",
            "the same with a streamed body",
            Ask(method: "POST", body: Data(count: 10_000), streamsBody: true)
        ),
        FaultRow(
            "killed-delegate",
            "the same with a delegate that gives the body again",
            [.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .read, .close],
            .ok("ok"),
            excluded: [.urlsession],
            patience: 8,
            serverSaw: { bodies($0[0]) },
            isRight: { isExecutedOnce($0) }
        ) { probe in
            let ask = Ask(method: "POST", body: Data(count: 10_000))
            guard probe.subject == .raw else { return try await twice(ask, probe) }
            var texts: [String] = []
            let delegate = RawDelegate(newBody: ask.body)
            let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
            for _ in 0..<2 {
                guard let request = RawClient.request(ask, to: probe.url) else { continue }
                session.dataTask(with: request).resume()
                await delegate.end()
                texts.append(delegate.seen.failure.map { "error \($0)" } ?? "\(delegate.seen.statuses.last ?? 0) 'ok'")
            }
            return texts.joined(separator: ", then ")
        },
        FaultRow(
            "cancel-cached",
            "3,000 requests cancelled against a fast server",
            .ok("ok", fields: [("Cache-Control", "max-age=60")]),
            patience: 30,
            isRight: { $0.said == "3000 of 3000 came to an end" }
        ) { probe in
            var ended = 0
            for round in 0..<3_000 {
                let task = Task { try await probe.send(Ask()) }
                for _ in 0..<(round % 50) { await Task.yield() }
                task.cancel()
                _ = await task.result
                ended += 1
            }
            return "\(ended) of 3000 came to an end"
        },
        FaultRow(
            "cancel-together",
            "32 requests at once, cancelled near their end, 20 times",
            [
                .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"), .pause(.milliseconds(20)), .send("cd"),
                .close,
            ],
            patience: 15,
            isRight: { $0.said == "640 of 640 came to an end" }
        ) { probe in
            var ended = 0
            for _ in 0..<20 {
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<32 { group.addTask { _ = try? await probe.send(Ask()) } }
                    try? await Task.sleep(for: .milliseconds(20))
                    group.cancelAll()
                    for await _ in group { ended += 1 }
                }
            }
            return "\(ended) of 640 came to an end"
        },
        FaultRow(
            "suspend",
            "a reader that pauses in the middle of a body",
            [
                .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"),
                .send(PatternBytes.make(count: 500_000)), .pause(.milliseconds(300)),
                .send(PatternBytes.make(count: 500_000, from: 500_000)), .close,
            ],
            isRight: { $0.said == "1000000 bytes, as they were sent" }
        ) { probe in
            let body = probe.subject == .raw ? await suspendedRaw(probe) : try await suspended(probe)
            let isWhole = body == PatternBytes.make(count: 1_000_000)
            return "\(body.count) bytes, \(isWhole ? "as they were sent" : "damaged")"
        },
        FaultRow(
            "spin",
            "a wait of two seconds for the response",
            [.read, .pause(.milliseconds(2_000)), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .close],
            excluded: [.urlsession],
            isRight: { $0.said.hasSuffix("little CPU") }
        ) { probe in
            let before = ProcessFigures.now.cpuMilliseconds
            let text = try await probe.send(Ask()).text
            let spent = ProcessFigures.now.cpuMilliseconds - before
            return "\(text), \(spent > 600 ? "\(spent) ms of CPU" : "little CPU")"
        },
    ]

    private static func killed(_ id: String, _ what: String, _ ask: Ask) -> FaultRow {
        FaultRow(
            id,
            what,
            [.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .read, .close],
            .ok("ok"),
            excluded: ask.streamsBody ? [] : [.urlsession],
            patience: 8,
            serverSaw: { bodies($0[0]) },
            isRight: { isExecutedOnce($0) },
            probe: { try await twice(ask, $0) }
        )
    }

    /// Returns whether each of the two POSTs went out once: the server may have executed the second one before it
    /// closed the connection (RFC 9110 §9.2.2). Over a libcurl below 7.80 the second one has a connection of its own.
    private static func isExecutedOnce(_ report: Report) -> Bool {
        let ends = ["error connectionLost", "error -1005", "200 'ok'"]
        return ends.contains { report.said == "200 'ok', then \($0)" } && report.server == "bodies of 10000, 10000"
    }

    private static func bodies(_ server: ScriptedServer) -> String {
        server.requests.isEmpty
            ? "nothing" : "bodies of \(server.requests.map { "\($0.body.count)" }.joined(separator: ", "))"
    }

    private static func twice(_ ask: Ask, _ probe: Probe) async throws -> String {
        let first = try await probe.send(ask).text
        return try await first + ", then " + probe.send(ask).text
    }

    private static func suspendedRaw(_ probe: Probe) async -> Data {
        let delegate = RawDelegate { task in
            task.suspend()
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.1) { task.resume() }
        }
        let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
        guard let request = RawClient.request(Ask(), to: probe.url) else { return Data() }
        session.dataTask(with: request).resume()
        await delegate.end()
        return delegate.seen.body
    }

    private static func suspended(_ probe: Probe) async throws -> Data {
        let response = try await probe.dispatcher.send(try probe.request(Ask()))
        var body = Data()
        for try await chunk in response.body {
            if body.isEmpty { try await Task.sleep(for: .milliseconds(100)) }
            body += chunk
        }
        return body
    }
}
