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
    /// The file that holds two numbers of eight bytes each: that of the request that began last, and that of the
    /// program that runs, 0 for none.
    var counter: String
}

/// A line from the parent: the next block.
struct BlockOrder: Codable, Sendable {
    /// The index of the URL.
    var url: Int
    /// The number of requests.
    var requests: Int
    /// The number of requests at once.
    var concurrency: Int
    /// The intended starts of an open load; `nil` for a closed one.
    var starts: OpenSchedule?
    /// The time after which a closed load begins no further request, in seconds; `nil` for none.
    var seconds: Double?
    /// The port of the tool's server that gets the requests in place of the URL's; `nil` for the URL's own.
    var wirePort: UInt16?
}

/// A line from the child: the figures of a block.
struct BlockReport: Codable, Sendable {
    /// The times of the requests that have a response, in milliseconds.
    var latencies: [Double] = []
    /// The number of requests.
    var requests = 0
    var seconds = 0.0
    /// User and system time.
    var cpuMicroseconds = 0.0
    /// Voluntary and involuntary switches of context.
    var contextSwitches = 0
    /// The largest resident set so far, in KiB.
    var peakResidentKB = 0
    /// The resident memory that no file is behind, in bytes: heap and stacks.
    var memory = 0
    var threads = 0
    var descriptors = 0
    /// The requests that had a new connection, and those that had a kept one.
    var (connections, reuses) = (0, 0)
    /// The attempts of all requests, what the transport sent again by itself included; 0 for a program.
    var attempts = 0
    /// The body bytes on the wire.
    var wireBytes = 0
    var phases = PhaseTimes()
    /// The numbers of the responses and how often each came.
    var outcomes: [Int: Int] = [:]
    /// The same for the requests that made a connection.
    var firstOutcomes: [Int: Int] = [:]
    /// Why each request was refused before anything was sent; `nil` if one was sent.
    var refusal: String?
    /// The responses that have not been sent before, by their number.
    var new: [Int: RecordedResponse] = [:]
}

/// The summed times of the steps of requests, in milliseconds.
struct PhaseTimes: Codable, Sendable {
    var (queue, lookUp, connect, tls, firstByte, body) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    /// The number of requests whose steps are known.
    var count = 0

    static func += (sum: inout PhaseTimes, other: PhaseTimes) {
        sum.queue += other.queue
        sum.lookUp += other.lookUp
        sum.connect += other.connect
        sum.tls += other.tls
        sum.firstByte += other.firstByte
        sum.body += other.body
        sum.count += other.count
    }
}

/// What the child writes: one line for each line that it reads.
enum ArmReply: Codable, Sendable {
    /// The order is understood. The text says which library the arm runs over.
    case ready(library: String)
    /// The arguments can't be used, in words.
    case refused(String)
    case block(BlockReport)
}
