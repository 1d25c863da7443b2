import Foundation
import NetworkComparison
import NetworkLayer

/// Sends the requests of blocks over one transport, in the process of an arm.
final class ArmWorker: BlockWorker {
    private let requests: [SourceRequest]
    private let transport: any HTTPTransport
    private let clients: [NetworkClient]
    /// Whether requests go through the pipeline.
    private let usesPipeline: Bool
    private let counter: SharedNumber
    /// What each URL has responded: a response that one URL is known to give is a new one of another URL.
    private let memories: Guarded<[ResponseMemory]>
    /// The bytes of the bodies that the block holds.
    private let held = Guarded(0)

    init(
        _ requests: [SourceRequest], over transport: any HTTPTransport, usesPipeline: Bool = true, counter: SharedNumber
    ) throws {
        (self.requests, self.transport, self.usesPipeline) = (requests, transport, usesPipeline)
        self.counter = counter
        clients = try requests.map { try Self.client(of: $0, over: transport, for: $0.request.url) }
        memories = Guarded(requests.map { _ in ResponseMemory(urls: requests.count) })
    }

    private static func client(
        of request: SourceRequest, over transport: any HTTPTransport, for url: RequestURL
    ) throws -> NetworkClient {
        var client = try request.client(transport, url)
        client.validation = .any
        return client
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
    func run(_ order: BlockOrder) async throws -> BlockReport {
        held.withLock { $0 = 0 }
        let reporter = transport as? any ReportsStatistics
        let statistics = await reporter?.statistics
        let before = ProcessFigures.own
        let start = ContinuousClock.now
        let outcomes = try await outcomes(of: order, from: start)
        var report = BlockReport()
        report.seconds = (ContinuousClock.now - start) / .seconds(1)
        report.add(since: before, until: .own)
        if let statistics, let after = await reporter?.statistics {
            report.transport = TransportFigures(since: statistics, until: after)
        }
        if let starts = order.starts {
            let rate = starts.rate / Double(starts.arms)
            report.seconds = Self.seconds(ofEnds: outcomes.compactMap(\.end), at: rate)
        }
        report.memory = ProcessFigures.memory
        (report.threads, report.descriptors) = (ProcessFigures.threads, ProcessFigures.descriptors)
        report.requests = outcomes.count
        let refused = outcomes.compactMap { $0.error as? NetworkError }.filter { $0.phase == .preparing }
        if refused.count == outcomes.count { report.refusal = refused.first.map { $0.description + $0.advice } }
        for outcome in outcomes {
            if let latency = outcome.latency { report.latencies.append(latency) }
            let counted = outcome.counted ?? counted(outcome, order.url)
            report.count(counted)
            report.attempts += outcome.attempts
            guard let metrics = outcome.metrics else { continue }
            report.add(metrics)
            if metrics.connectionReused == false { report.firstOutcomes[counted.number, default: 0] += 1 }
        }
        return report
    }

    /// Returns the time in which an open load carried its requests, in seconds: an interval for each of them where they
    /// ended as they were begun, and more where they fell behind.
    static func seconds(ofEnds ends: [ContinuousClock.Instant], at rate: Double) -> Double {
        guard let first = ends.min(), let last = ends.max() else { return 0 }
        return max(Double(ends.count), (last - first) / .seconds(1) * rate + 1) / rate
    }

    private func outcomes(of order: BlockOrder, from start: ContinuousClock.Instant) async throws -> [Outcome] {
        let left = Guarded(order.requests)
        let end = order.seconds.map { start + .seconds($0) }
        var (request, client) = (requests[order.url].request, clients[order.url])
        if let port = order.wirePort {
            request = try request.sent(toPort: port)
            client = try Self.client(of: requests[order.url], over: transport, for: request.url)
        }
        let send: @Sendable (ContinuousClock.Instant) async -> Outcome = { [self, request, client] start in
            await exchange(request, by: client, order.url, from: start)
        }
        return await withTaskGroup(of: [Outcome].self) { group in
            if let starts = order.starts {
                // An open load: each request has its time, whether the earlier ones have ended or not.
                for start in starts.starts(order.requests) {
                    let due = starts.begin + .seconds(start)
                    do { try await ContinuousClock().sleep(until: due) } catch { break }
                    group.addTask { [await send(due)] }
                }
            } else {
                for _ in 0..<min(order.concurrency, order.requests) {
                    group.addTask {
                        var outcomes: [Outcome] = []
                        while end.map({ $0 > .now }) ?? true,
                            left.withLock({
                                $0 -= 1; return $0 >= 0
                            })
                        {
                            outcomes.append(await send(.now))
                        }
                        return outcomes
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func exchange(
        _ request: TransportRequest, by client: NetworkClient, _ url: Int, from start: ContinuousClock.Instant
    ) async -> Outcome {
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
        attempts += metrics.repeats ?? 0
        wireBytes += metrics.responseWireBytes ?? 0
        guard let firstByte = metrics.firstByte else { return }
        let steps: [(Phase, Duration?)] = [
            (.queue, metrics.queued), (.lookUp, metrics.nameLookup), (.connect, metrics.connect), (.tls, metrics.tls),
        ]
        let before = steps.reduce(Duration.zero) { $0 + ($1.1 ?? .zero) }
        let all = steps + [(.firstByte, max(.zero, firstByte - before)), (.body, metrics.total - firstByte)]
        for (phase, time) in all { phases[phase, default: 0] += (time ?? .zero) / .milliseconds(1) }
        phaseCount += 1
    }
}
