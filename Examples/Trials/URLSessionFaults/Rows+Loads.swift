import Foundation
import FoundationNetworking
import NetworkLayer
import NetworkTesting
import TrialSupport

/// Large bodies and many requests.
extension URLSessionFaults {
    static let loads: [FaultRow] = [
        FaultRow(
            "slow-reader",
            "300 MB to a reader that does not read",
            large,
            patience: 20,
            isRight: { megabytes($0.said) < 100 }
        ) { probe in
            let before = ProcessFigures.now.residentKilobytes
            if probe.subject == .raw {
                let session = URLSession(configuration: .default, delegate: RawDelegate(), delegateQueue: nil)
                guard let request = RawClient.request(Ask(), to: probe.url) else { return "no URL" }
                session.dataTask(with: request).resume()
                return try await grown(since: before) { "held" }
            }
            let response = try await probe.dispatcher.send(try probe.request(Ask(totalSeconds: 15)))
            return try await grown(since: before) {
                withExtendedLifetime(response) { "held" }
            }
        },
        FaultRow(
            "large-body",
            "300 MB, collected whole",
            large,
            patience: 20,
            isRight: { megabytes($0.said) < 200 },
            probe: whole
        ),
        FaultRow(
            "bomb",
            "300 MB as 2 MB of gzip, collected whole",
            .response(fields: [("Content-Encoding", "gzip")], body: Gzip.zeros(count: 300_000_000)),
            patience: 20,
            isRight: { megabytes($0.said) < 200 },
            probe: whole
        ),
        FaultRow(
            "concurrency",
            "twenty requests to one host at once",
            .stalled,
            serverSaw: { "\($0[0].requests.count) requests" },
            isRight: { $0.server == "20 requests" }
        ) { probe in
            for _ in 0..<20 { Task { try await probe.send(Ask()) } }
            try await Task.sleep(for: .milliseconds(1_500))
            return "twenty started"
        },
    ]

    private static let large = Script(
        [.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 300000000\r\n\r\n")]
            + Array(repeating: .send(PatternBytes.make(count: 1_000_000)), count: 300)
    )

    /// Returns the largest growth of the resident memory within two seconds.
    private static func grown(since before: Int, _ what: () -> String) async throws -> String {
        var most = 0
        for _ in 0..<40 {
            try await Task.sleep(for: .milliseconds(50))
            most = max(most, ProcessFigures.now.residentKilobytes - before)
        }
        return "\(what()): \(most / 1_000) MB"
    }

    @Sendable private static func whole(_ probe: Probe) async throws -> String {
        let before = ProcessFigures.now.residentKilobytes
        let text = try await probe.send(Ask(totalSeconds: 15)).text
        return "\(text): \(max(0, ProcessFigures.peakKilobytes - before) / 1_000) MB"
    }

    @Sendable private static func megabytes(_ text: String) -> Int {
        let words = text.split(separator: " ")
        return words.count > 1 && words.last == "MB" ? Int(words[words.count - 2]) ?? .max : .max
    }
}
