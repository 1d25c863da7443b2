import Foundation
import CurlTransport
import NetworkCore
import NetworkTesting
import Synchronization
import TrialSupport

/// One attempt to hold up a loop, on its own dispatcher.
final class Attempt: Sendable {
    let dispatcher: CurlNetworkDispatcher
    /// Whether the attempt has a few seconds and not a minute.
    let isShort: Bool
    private let words = Mutex<(notes: [String], faults: [String])>(([], []))

    init(_ configuration: CurlNetworkDispatcher.Configuration, isShort: Bool) {
        dispatcher = CurlNetworkDispatcher(configuration: configuration)
        self.isShort = isShort
    }

    var notes: [String] { words.withLock(\.notes) }
    var faults: [String] { words.withLock(\.faults) }

    /// Adds a figure to the table.
    func note(_ text: String) { words.withLock { $0.notes.append(text) } }

    /// Records a fault unless a condition holds that no scenario may break.
    func expect(_ holds: Bool, _ text: @autoclosure () -> String) {
        guard !holds else { return }
        let text = text()
        words.withLock { $0.faults.append(text) }
    }

    /// Sends one request and collects the body.
    /// - Returns: The code of the error; `nil` for a response.
    func ask(
        _ url: String, _ options: TransportOptions = TransportOptions(), headerFields: HTTPFields = [:]
    ) async -> NetworkError.Code? {
        do {
            let request = TransportRequest(url: try RequestURL(url), headerFields: headerFields, options: options)
            _ = try await dispatcher.send(request).body.collect()
            return nil
        } catch {
            if let code = NetworkError.code(of: error) { return code }
            expect(false, "\(url): \(error)")
            return nil
        }
    }

    /// Sends the same request from many tasks at once, and notes the outcomes.
    func askMany(_ count: Int, _ request: TransportRequest) async {
        let outcomes = await withTaskGroup(of: String.self) { group in
            for _ in 0..<count {
                group.addTask { [dispatcher] in
                    do {
                        return "\(try await dispatcher.send(request).body.collect().isEmpty ? "empty" : "whole")"
                    } catch {
                        return NetworkError.code(of: error)?.rawValue ?? "\(error)"
                    }
                }
            }
            return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        note(outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
    }

    /// Measures the requests of a neighbor while `body` runs. They go to another server, one at a time.
    func withNeighbour<Result>(_ name: String, _ body: () async throws -> Result) async throws -> Result {
        let server = try ScriptedServer(.ok("well"))
        defer { server.stop() }
        let isOver = Gate()
        let neighbour = Task.detached { [self] in
            var times: [Duration] = []
            while !isOver.isOpen || times.count < 10 {
                let clock = SuspendingClock()
                let start = clock.now
                let code = await ask(server.url())
                expect(code == nil, "a neighbor's request failed: \(code?.rawValue ?? "")")
                times.append(clock.now - start)
                try? await Task.sleep(for: .milliseconds(5))
            }
            return times.sorted()
        }
        let result = await Swift.Result { () async throws in try await body() }
        isOver.open()
        let times = await neighbour.value
        let most = times[times.count / 2]
        note("\(name): \(times.count) responses, half of them within \(most.text)")
        expect(most < Duration.milliseconds(250) * Heartbeat.busyness, "\(name) waits \(most.text)")
        return try result.get()
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

extension Duration {
    /// The duration in milliseconds, with one decimal.
    var text: String {
        let tenths = Int(self / .microseconds(100))
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}

extension Attempt {
    /// The version of libcurl as a number: 7.88 for 7.88, and 8.05 for 8.5.
    var libcurl: Double {
        let words = dispatcher.capabilities.basis.split(separator: " ")
        let numbers = (words.dropFirst().first ?? "").split(separator: ".").prefix(2).compactMap { Double($0) }
        return numbers.count == 2 ? numbers[0] + numbers[1] / 100 : 0
    }
}
