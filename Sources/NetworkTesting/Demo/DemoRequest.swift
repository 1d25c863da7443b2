import FlyingFox
import Foundation

/// A request as a route receives it.
struct DemoRequest: Sendable {
    let method: String
    /// The path, percent-encoded as received.
    let path: String
    /// The query, percent-encoded as received; empty if there is none.
    let query: String
    /// Names and values, sorted by name. A repeated field appears once, because FlyingFox keeps only the last one.
    let headers: [[String]]
    /// The value in place of `:name` in the route's path.
    var value = ""

    private let bodySequence: HTTPBodySequence

    init(_ request: HTTPRequest) {
        method = request.method.rawValue
        path = request.target.path()
        query = request.target.query()
        headers = request.headers.map { [$0.key.rawValue, $0.value] }.sorted { $0[0].lowercased() < $1[0].lowercased() }
        bodySequence = request.bodySequence
    }

    /// The largest body, in bytes, that is held in memory; a larger one gets status 413.
    static let maximumBodyBytes = 67_108_864

    /// Returns the whole body. Throws ``DemoRefusal`` (413) above ``maximumBodyBytes``.
    func body() async throws -> Data {
        var body = Data()
        var length = 0
        for try await chunk in bodySequence {
            length += chunk.count
            // What is not read would be taken for the next request.
            if length <= Self.maximumBodyBytes { body.append(chunk) } else { body = Data() }
        }
        guard length <= Self.maximumBodyBytes else {
            throw DemoRefusal(status: 413, message: "the body is larger than \(Self.maximumBodyBytes) bytes")
        }
        return body
    }

    /// Returns the length, in bytes, and the checksum of a body of any length.
    func measureBody() async throws -> (count: Int, sum: CRC32) {
        var count = 0
        var sum = CRC32()
        for try await chunk in bodySequence {
            count += chunk.count
            sum.update([UInt8](chunk))
        }
        return (count, sum)
    }

    /// Reads and discards the body. A body can be read only once.
    func drainBody() async throws {
        for try await _ in bodySequence {}
    }

    /// Returns the path's value as a number. Throws ``DemoRefusal`` (400) for anything else.
    func number(in range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(value), range.contains(number) else {
            throw DemoRefusal(
                status: 400,
                message: "'\(value)' is not a number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }
}

/// A request that a route refuses.
struct DemoRefusal: Error {
    let status: Int
    let message: String
}
