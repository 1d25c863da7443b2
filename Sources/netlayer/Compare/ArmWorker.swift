import Foundation
import NetworkComparison
import NetworkLayer
import Synchronization

/// Sends the requests of blocks over one transport, in the process of an arm.
final class ArmWorker: Sendable {
    private let requests: [TransportRequest]
    private let client: NetworkClient
    /// Whether requests go through the pipeline.
    private let usesPipeline: Bool
    private let counter: SharedNumber
    private let memory = Guarded(ResponseMemory())

    init(_ requests: [TransportRequest], client: NetworkClient, usesPipeline: Bool, counter: SharedNumber) {
        (self.requests, self.client, self.usesPipeline, self.counter) = (requests, client, usesPipeline, counter)
    }

    /// One request of a block, as it came out.
    private struct Outcome: Sendable {
        var latency: Double?
        var response: RecordedResponse
        var metrics: TransportMetrics?
    }

    /// Runs a block and returns its figures. What is measured ends before the responses are looked at.
    func run(_ order: BlockOrder) async -> BlockReport {
        let before = ProcessFigures.own
        let start = ContinuousClock.now
        let outcomes = await outcomes(of: order, from: start)
        var report = BlockReport()
        report.seconds = (ContinuousClock.now - start) / .seconds(1)
        let after = ProcessFigures.own
        report.cpuMicroseconds = after.cpuMicroseconds - before.cpuMicroseconds
        report.contextSwitches = after.contextSwitches - before.contextSwitches
        report.peakResidentKB = after.peakResidentKB
        report.threads = ProcessFigures.threads
        report.descriptors = ProcessFigures.descriptors
        report.requests = outcomes.count
        for outcome in outcomes {
            if let latency = outcome.latency { report.latencies.append(latency) }
            outcome.metrics.map { report.add($0) }
            let (number, isNew) = memory.withLock { $0.number(of: outcome.response) }
            report.outcomes[number, default: 0] += 1
            if isNew { report.new[number] = outcome.response }
        }
        return report
    }

    private func outcomes(of order: BlockOrder, from start: ContinuousClock.Instant) async -> [Outcome] {
        let turns = Turns(order.requests)
        let request = requests[order.url]
        return await withTaskGroup(of: [Outcome].self) { group in
            if let rate = order.rate {
                // An open load: each request has its time, whether the earlier ones have ended or not.
                for number in 0..<order.requests {
                    let due = start + .seconds(Double(number) / rate)
                    do { try await ContinuousClock().sleep(until: due) } catch { break }
                    group.addTask { [self] in [await exchange(request, from: due)] }
                }
            } else {
                for _ in 0..<min(order.concurrency, order.requests) {
                    group.addTask { [self] in
                        var outcomes: [Outcome] = []
                        while turns.take() { outcomes.append(await exchange(request, from: .now)) }
                        return outcomes
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func exchange(_ request: TransportRequest, from start: ContinuousClock.Instant) async -> Outcome {
        counter.increase()
        var recorded = RecordedResponse()
        do {
            let (head, body, metrics): (HTTPResponse, Data, TransportMetrics)
            if usesPipeline {
                let response = try await client.send(request, as: .stream)
                body = try await response.body.collect(upTo: request.options.maximumBodyBytes)
                (head, metrics) = (response.head, response.metrics)
                recorded.redirects = response.redirects.map { "\($0.status.code) \($0.to)" }
                recorded.trailers = fields(response.body.trailers ?? [:])
            } else {
                let response = try await client.transport.send(request)
                body = try await response.body.collect(upTo: request.options.maximumBodyBytes)
                (head, metrics) = (response.head, response.metrics)
                recorded.trailers = fields(response.body.trailers ?? [:])
            }
            let latency = (ContinuousClock.now - start) / .milliseconds(1)
            recorded.status = head.status.code
            recorded.fields = fields(head.headerFields)
            recorded.setBody(body)
            return Outcome(latency: latency, response: recorded, metrics: metrics)
        } catch {
            recorded.errorCode = NetworkError.code(of: error)?.rawValue ?? "\(type(of: error))"
            recorded.errorText = NetworkError.logText(of: error)
            return Outcome(response: recorded)
        }
    }

    private func fields(_ fields: HTTPFields) -> [RecordedResponse.Field] {
        fields.map { RecordedResponse.Field($0.name.rawName, $0.value) }
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

/// The responses that an arm has reported, each under a number. Its size is bounded.
private struct ResponseMemory {
    private var numbers: [RecordedResponse: Int] = [:]
    private var bytes = 0

    static let maximumResponses = 20_000
    static let maximumBytes = 64 << 20

    /// Returns the number of a response, and whether it is a new one; -1 for a new one without room.
    mutating func number(of response: RecordedResponse) -> (number: Int, isNew: Bool) {
        // The time of the response differs each time, and is not compared.
        var response = response
        response.fields.removeAll { $0.name.lowercasedASCII == "date" }
        if let number = numbers[response] { return (number, false) }
        guard numbers.count < Self.maximumResponses, bytes < Self.maximumBytes else { return (-1, false) }
        bytes += response.body.count + 64 * (response.fields.count + 4)
        let number = numbers.count
        numbers[response] = number
        return (number, true)
    }
}
