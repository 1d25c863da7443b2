import Foundation

/// A block of requests of one arm: a unit of the experiment, between which the arms take turns.
struct Block: Codable, Sendable {
    /// The times of the successful requests, in milliseconds.
    var latencies: [Double]
    var seconds: Double
    /// The CPU time that the arm's process took during the block, in microseconds.
    var cpuMicroseconds: Double
    /// The number of requests, failed ones included.
    var requests: Int
    /// The number of the process that ran the block. Processes of several arms with the same number lived at the same
    /// time.
    var process: Int
    /// The times of the first request of the block's process, in milliseconds: one, in the process's first block.
    var colds: [Double] = []
    /// The new connections; `nil` for a transport that does not report them.
    var connections: Int?
    /// The attempts of all requests; `nil` for a program.
    var attempts: Int?

    private enum CodingKeys: String, CodingKey {
        case latencies = "latenciesMs", colds = "coldsMs"
        case seconds, cpuMicroseconds, requests, process, connections, attempts
    }

    /// Returns what each process did as one block, by the number of the process. A process whose requests all failed is
    /// left out: it has no figures, and the other arm's process of that time has nothing to be compared with.
    static func byProcess(_ blocks: [Block]) -> [Int: Block] {
        let sums = blocks.reduce(into: [Int: Block]()) { sums, block in
            let nothing = Block(latencies: [], seconds: 0, cpuMicroseconds: 0, requests: 0, process: block.process)
            sums[block.process, default: nothing].add(block)
        }
        return sums.filter { !$0.value.latencies.isEmpty }
    }

    private mutating func add(_ other: Block) {
        latencies += other.latencies
        seconds += other.seconds
        cpuMicroseconds += other.cpuMicroseconds
        requests += other.requests
        colds += other.colds
        connections = other.connections.map { $0 + (connections ?? 0) } ?? connections
        attempts = other.attempts.map { $0 + (attempts ?? 0) } ?? attempts
    }
}

/// The blocks of one arm, prepared for the same figure of many selections of them.
struct BlockFigures: Sendable {
    private let blocks: [Block]
    /// Each latency with the number of its block, in ascending order.
    private let sorted: [(latency: Double, block: Int)]

    init(_ blocks: [Block]) {
        self.blocks = blocks
        sorted = blocks.indices.flatMap { index in blocks[index].latencies.map { ($0, index) } }
            .sorted { $0.latency < $1.latency }
    }

    var count: Int { blocks.count }

    var requests: Int { sorted.count }

    /// The values of each metric, with each block counted once.
    var values: [Metric: Double] { values(counting: Array(repeating: 1, count: blocks.count)) }

    /// Returns the values of each metric, with each block counted as often as `weights` says. A percentile is the
    /// nearest rank: the smallest latency that at least that percentage of all do not exceed. Metrics that no block
    /// has a value for are left out.
    func values(counting weights: [Int]) -> [Metric: Double] {
        var (latencies, requests) = (0, 0)
        var (seconds, cpu) = (0.0, 0.0)
        for (block, weight) in zip(blocks, weights) where weight > 0 {
            latencies += weight * block.latencies.count
            requests += weight * block.requests
            seconds += Double(weight) * block.seconds
            cpu += Double(weight) * block.cpuMicroseconds
        }
        var values = percentiles(of: latencies, weights)
        if seconds > 0, latencies > 0 { values[.rate] = Double(latencies) / seconds }
        // What requests cost that all fail is none of an arm's figures.
        if requests > 0, cpu > 0, latencies > 0 { values[.cpu] = cpu / Double(requests) }
        values[.cold] = cold(counting: weights)
        values[.connections] = share(of: \.connections, counting: weights)
        values[.attempts] = share(of: \.attempts, counting: weights)
        return values
    }

    /// Returns the geometric mean of the first requests: one that waited for other work must not be all of it.
    private func cold(counting weights: [Int]) -> Double? {
        var (sum, count) = (0.0, 0)
        for (block, weight) in zip(blocks, weights) {
            for cold in block.colds where cold > 0 { sum += Double(weight) * log(cold) }
            count += weight * block.colds.count { $0 > 0 }
        }
        return count > 0 ? exp(sum / Double(count)) : nil
    }

    /// Returns how often something happens for a request, in the blocks that know it.
    private func share(of count: (Block) -> Int?, counting weights: [Int]) -> Double? {
        var (sum, requests) = (0, 0)
        for (block, weight) in zip(blocks, weights) {
            guard let count = count(block) else { continue }
            sum += weight * count
            requests += weight * block.requests
        }
        return requests > 0 ? Double(sum) / Double(requests) : nil
    }

    private func percentiles(of count: Int, _ weights: [Int]) -> [Metric: Double] {
        guard count > 0 else { return [:] }
        let wanted = Metric.percentiles.map { (metric: $0.metric, rank: max(1, (count * $0.percent + 99) / 100)) }
        var values: [Metric: Double] = [:]
        var (passed, next) = (0, 0)
        for entry in sorted {
            passed += weights[entry.block]
            while next < wanted.count, passed >= wanted[next].rank {
                values[wanted[next].metric] = entry.latency
                next += 1
            }
            if next == wanted.count { break }
        }
        return values
    }
}
