import Foundation
import NetworkComparison

/// The first line that a child process reads: who it is, and what it sends.
struct ArmOrder: Codable, Sendable {
    /// The text of `--arm`.
    var arm: String
    /// The arguments of `compare`, which the child parses as the parent did.
    var arguments: [String]
    /// The files of requests, bodies and tokens, by path: the child sends what the comparison has read.
    var files: [String: Data]
    /// The file of two ``SharedNumber``s: that of the request that began last, and that of the program that runs.
    var counter: String
}

/// A line from the parent: the next block.
struct BlockOrder: Codable, Sendable {
    /// The index of the URL.
    var url: Int
    var requests: Int
    /// The number of requests at once of a closed load.
    var concurrency: Int
    /// The intended starts of an open load; `nil` for a closed one.
    var starts: OpenSchedule?
    /// The time after which a closed load begins no further request, in seconds; `nil` for none.
    var seconds: Double?
    /// The port of the tool's server that gets the requests in place of the URL's; `nil` for the URL's own.
    var wirePort: UInt16?
}

/// What the child writes: one line for each line that it reads.
enum ArmReply: Codable, Sendable {
    /// The order is understood. The text says which library the arm runs over.
    case ready(library: String)
    /// The arguments can't be used, in words.
    case refused(String)
    case block(BlockReport)
}

/// The figures of a block.
struct BlockReport: Codable, Sendable {
    /// The times of the requests that have a response, in milliseconds.
    var latencies: [Double] = []
    var requests = 0
    var seconds = 0.0
    var cpuMicroseconds = 0.0
    var contextSwitches = 0
    var peakResidentKB = 0
    /// The resident memory that no file is behind, in bytes: heap and stacks.
    var memory = 0
    var (threads, descriptors) = (0, 0)
    /// The requests that had a new connection, and those that had a kept one.
    var (connections, reuses) = (0, 0)
    /// What the transport reports of itself.
    var transport: TransportFigures?
    /// The attempts of all requests, what the transport sent again by itself included; 0 for a program.
    var attempts = 0
    /// The body bytes on the wire.
    var wireBytes = 0
    /// The summed times of the steps of requests, and the number of requests whose steps are known.
    var phases: [Phase: Double] = [:]
    var phaseCount = 0
    /// The numbers of the responses and how often each came, and the same for requests that made a connection.
    var outcomes: [Int: Int] = [:]
    var firstOutcomes: [Int: Int] = [:]
    /// Why each request was refused before anything was sent; `nil` if one was sent.
    var refusal: String?
    /// The responses that have not been sent before, by their number.
    var new: [Int: RecordedResponse] = [:]

    /// Notes the outcome of a request.
    mutating func count(_ outcome: (number: Int, new: RecordedResponse?)) {
        outcomes[outcome.number, default: 0] += 1
        if let new = outcome.new { self.new[outcome.number] = new }
    }

    /// Notes what the process took since `before`.
    mutating func add(since before: ProcessFigures, until after: ProcessFigures) {
        cpuMicroseconds += after.cpuMicroseconds - before.cpuMicroseconds
        contextSwitches += after.contextSwitches - before.contextSwitches
        peakResidentKB = after.peakResidentKB
    }
}

protocol BlockWorker: Sendable {
    func run(_ order: BlockOrder) async throws -> BlockReport
}

/// The intended starts of an open load, which all arms share: each start is given to one arm, by chance.
///
/// The arms send at the same time, so that none waits for the last response of another one: a server that stalls meets
/// the requests that were due meanwhile, and their times begin when they were due.
struct OpenSchedule: Codable, Sendable {
    /// The starts a second, of all arms together.
    var rate: Double
    /// The number of arms, and which of them this is.
    var arms = 1
    var arm = 0
    /// The seed by which the starts are given away.
    var seed: UInt64
    /// The time of the first start. All processes of a machine share the clock.
    var begin: ContinuousClock.Instant

    /// Returns the starts of the arm, each after the first start of all, in seconds.
    func starts(_ requests: Int) -> [Double] {
        var generator = SeededGenerator(seed: seed)
        let owners = (0..<arms).flatMap { Array(repeating: $0, count: requests) }.shuffled(using: &generator)
        return owners.indices.filter { owners[$0] == arm }.map { Double($0) / rate }
    }

    /// Returns the longest time between two starts of the arm, in seconds.
    func longestGap(_ requests: Int) -> Double {
        let starts = starts(requests)
        return zip(starts, starts.dropFirst()).map { $1 - $0 }.max() ?? 0
    }
}
