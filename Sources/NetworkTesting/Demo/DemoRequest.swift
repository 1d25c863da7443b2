import FlyingFox
import Foundation

/// A request as the routes see it.
struct DemoRequest: Sendable {
    let method: String
    /// The path, percent-encoded as it came.
    let path: String
    /// The query, percent-encoded as it came; empty for none.
    let query: String
    /// Names and values, sorted by name. A repeated field appears once: the server below keeps the last.
    let headers: [[String]]
    /// What stands for `:name` in the route's path.
    var value = ""

    private let bodySequence: HTTPBodySequence

    init(_ request: HTTPRequest) {
        method = request.method.rawValue
        path = request.target.path()
        query = request.target.query()
        headers = request.headers.map { [$0.key.rawValue, $0.value] }.sorted { $0[0].lowercased() < $1[0].lowercased() }
        bodySequence = request.bodySequence
    }

    /// The largest body that is held at once; a longer one is refused with 413.
    static let maximumBodyBytes = 67_108_864

    /// The whole body.
    func body() async throws -> Data {
        var body = Data()
        for try await chunk in bodySequence {
            body.append(chunk)
            guard body.count <= Self.maximumBodyBytes else {
                throw DemoRefusal(status: 413, message: "the body is larger than \(Self.maximumBodyBytes) bytes")
            }
        }
        return body
    }

    /// Length and checksum of a body of any length.
    func measureBody() async throws -> (count: Int, sum: CRC32) {
        var count = 0
        var sum = CRC32()
        for try await chunk in bodySequence {
            count += chunk.count
            sum.update([UInt8](chunk))
        }
        return (count, sum)
    }

    /// Reads to the end and keeps nothing. A body can be read once.
    func drainBody() async throws {
        for try await _ in bodySequence {}
    }

    /// The path's value as a number.
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

/// A request that a route does not take.
struct DemoRefusal: Error {
    let status: Int
    let message: String
}
