import Foundation
import NetworkComparison
import NetworkLayer
import Synchronization

/// A request of an arm, with its client.
struct ArmRequest: Sendable {
    var request: TransportRequest
    var client: NetworkClient
    /// Returns the client for another origin, whose credentials are that origin's.
    var clientForOrigin: @Sendable (RequestURL) throws -> NetworkClient
}

/// Sends the requests of blocks over one transport, in the process of an arm.
final class ArmWorker: BlockWorker {
    private let requests: [ArmRequest]
    /// Whether requests go through the pipeline.
    private let usesPipeline: Bool
    private let counter: SharedNumber
    /// What each URL has responded: a response that one URL is known to give is a new one of another URL.
    private let memories: Guarded<[ResponseMemory]>
    /// The bytes of the bodies that the block holds.
    private let held = Guarded(0)

    init(_ requests: [ArmRequest], usesPipeline: Bool, counter: SharedNumber) {
        (self.requests, self.usesPipeline, self.counter) = (requests, usesPipeline, counter)
        memories = Guarded(requests.map { _ in ResponseMemory(urls: requests.count) })
    }

    /// One request of a block, as it came out. What is compared is made of it when nothing is measured any more.
    private struct Outcome: Sendable {
        var latency: Double?
        /// The end of the body, or of the failure.
        var end: ContinuousClock.Instant?
        var head: HTTPResponse?
        var body = Data()
        /// The number of a response that there was no room to keep, and the response if it was a new one.
        var counted: (number: Int, new: RecordedResponse?)?
        var trailers: HTTPFields?
        var redirects: [RedirectPolicy.Redirect] = []
        var metrics: TransportMetrics?
        var attempts = 1
        var error: (any Error)?

        var recorded: RecordedResponse {
            var recorded = RecordedResponse()
            recorded.setBody(body)
            recorded.status = head?.status.code
            recorded.fields = RecordedResponse.fields(head?.headerFields)
            recorded.trailers = RecordedResponse.fields(trailers)
            recorded.redirects = redirects.map { "\($0.status.code) \($0.to.absoluteString)" }
            if let error { recorded.setFailure(error) }
            return recorded
        }
    }

    /// The bodies of one block that are kept until its end, in bytes.
    private static let maximumHeld = 64 << 20

    /// Runs a block and returns its figures. What is measured ends before the responses are looked at.
    /// - Throws: ``NetworkError`` for a request that can't go to the tool's server.
    func run(_ order: BlockOrder) async throws -> BlockReport {
        held.withLock { $0 = 0 }
        let before = ProcessFigures.own
        let start = ContinuousClock.now
        let outcomes = try await outcomes(of: order, from: start)
        var report = BlockReport()
        report.seconds = (ContinuousClock.now - start) / .seconds(1)
        if let starts = order.starts {
            let rate = starts.rate / Double(starts.arms)
            report.seconds = Self.seconds(ofEnds: outcomes.compactMap(\.end), at: rate)
        }
        let after = ProcessFigures.own
        report.cpuMicroseconds = after.cpuMicroseconds - before.cpuMicroseconds
        report.contextSwitches = after.contextSwitches - before.contextSwitches
        report.peakResidentKB = after.peakResidentKB
        report.memory = ProcessFigures.memory
        report.threads = ProcessFigures.threads
        report.descriptors = ProcessFigures.descriptors
        report.requests = outcomes.count
        report.refusal = Self.refusal(of: outcomes.map(\.error))
        for outcome in outcomes {
            if let latency = outcome.latency { report.latencies.append(latency) }
            outcome.metrics.map { report.add($0) }
            let (number, new) = outcome.counted ?? counted(outcome, order.url)
            report.outcomes[number, default: 0] += 1
            if outcome.metrics?.connectionReused == false { report.firstOutcomes[number, default: 0] += 1 }
            report.attempts += outcome.attempts + (outcome.metrics?.repeats ?? 0)
            if let new { report.new[number] = new }
        }
        return report
    }

    /// Returns why all requests were refused before anything was sent; `nil` if one was sent.
    private static func refusal(of errors: [(any Error)?]) -> String? {
        let refused = errors.compactMap { $0 as? NetworkError }.filter { $0.phase == .preparing }
        return refused.count == errors.count ? refused.first.map { $0.description + $0.advice } : nil
    }

    /// Returns the time in which an open load carried its requests, in seconds: an interval for each of them where they
    /// ended as they were begun, and more where they fell behind.
    static func seconds(ofEnds ends: [ContinuousClock.Instant], at rate: Double) -> Double {
        guard let first = ends.min(), let last = ends.max() else { return 0 }
        return max(Double(ends.count), (last - first) / .seconds(1) * rate + 1) / rate
    }

    private func outcomes(of order: BlockOrder, from start: ContinuousClock.Instant) async throws -> [Outcome] {
        let turns = Turns(order.requests)
        let end = order.seconds.map { start + .seconds($0) }
        var request = requests[order.url]
        if let port = order.wirePort {
            request.request = try request.request.sent(toPort: port)
            request.client = try request.clientForOrigin(request.request.url)
        }
        return await withTaskGroup(of: [Outcome].self) { [request] group in
            if let starts = order.starts {
                // An open load: each request has its time, whether the earlier ones have ended or not.
                for start in starts.starts(order.requests) {
                    let due = starts.begin + .seconds(start)
                    do { try await ContinuousClock().sleep(until: due) } catch { break }
                    group.addTask { [self] in [await exchange(request, order.url, from: due)] }
                }
            } else {
                for _ in 0..<min(order.concurrency, order.requests) {
                    group.addTask { [self] in
                        var outcomes: [Outcome] = []
                        while end.map({ $0 > .now }) ?? true, turns.take() {
                            outcomes.append(await exchange(request, order.url, from: .now))
                        }
                        return outcomes
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func exchange(_ own: ArmRequest, _ url: Int, from start: ContinuousClock.Instant) async -> Outcome {
        let (request, client) = (own.request, own.client)
        counter.increase()
        var outcome = Outcome()
        do {
            let body: TransportResponse.Body
            if usesPipeline {
                let response = try await client.send(request, as: .stream)
                body = response.body
                outcome.body = try await body.collect(upTo: request.options.maximumBodyBytes)
                (outcome.head, outcome.metrics) = (response.head, response.metrics)
                (outcome.redirects, outcome.attempts) = (response.redirects, response.attempts)
            } else {
                let response = try await client.transport.send(request)
                body = response.body
                outcome.body = try await body.collect(upTo: request.options.maximumBodyBytes)
                (outcome.head, outcome.metrics) = (response.head, response.metrics)
            }
            let end = ContinuousClock.now
            (outcome.end, outcome.latency) = (end, (end - start) / .milliseconds(1))
            outcome.trailers = body.trailers
            makeRoom(for: &outcome, of: url)
        } catch {
            (outcome.end, outcome.error) = (.now, error)
        }
        return outcome
    }

    /// Returns the number of a response of a URL, and the response if it is a new one.
    private func counted(_ outcome: Outcome, _ url: Int) -> (number: Int, new: RecordedResponse?) {
        let recorded = outcome.recorded
        // Not within the lock, on which all workers may wait.
        let body = ResponseMemory.Body(recorded.body)
        return memories.withLock { $0[url].number(of: recorded, body: body) }
    }

    /// Looks at a response at once if the block holds too many bytes already. That costs time of the block.
    private func makeRoom(for outcome: inout Outcome, of url: Int) {
        let count = outcome.body.count
        let fits = held.withLock { held in
            held += count
            return held <= Self.maximumHeld
        }
        guard !fits else { return }
        outcome.counted = counted(outcome, url)
        outcome.body = Data()
    }
}

extension BlockReport {
    fileprivate mutating func add(_ metrics: TransportMetrics) {
        switch metrics.connectionReused {
        case true?: reuses += 1
        case false?: connections += 1
        case nil: break
        }
        wireBytes += metrics.responseWireBytes ?? 0
        guard let firstByte = metrics.firstByte else { return }
        func milliseconds(_ duration: Duration?) -> Double { (duration ?? .zero) / .milliseconds(1) }
        let steps = [metrics.queued, metrics.nameLookup, metrics.connect, metrics.tls].map(milliseconds)
        phases += PhaseTimes(
            queue: steps[0], lookUp: steps[1], connect: steps[2], tls: steps[3],
            firstByte: max(0, milliseconds(firstByte) - steps.reduce(0, +)),
            body: milliseconds(metrics.total - firstByte), count: 1)
    }
}

/// The requests of a block that no worker has sent yet.
private final class Turns: Sendable {
    private let left: Guarded<Int>

    init(_ count: Int) { left = Guarded(count) }

    /// Takes one of them.
    /// - Returns: Whether there was one.
    func take() -> Bool {
        left.withLock { left in
            left -= 1
            return left >= 0
        }
    }
}
