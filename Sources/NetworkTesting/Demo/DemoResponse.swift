import FlyingFox
import FlyingSocks
import Foundation

/// The response of a route.
struct DemoResponse: Sendable {
    enum Body: Sendable {
        case data(Data)
        case pattern(count: Int)
    }

    var status = 200
    var fields: [(name: String, value: String)] = []
    var body = Body.data(Data())

    static func json(_ value: some Encodable, status: Int = 200) throws -> DemoResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return DemoResponse(
            status: status,
            fields: [("Content-Type", "application/json")],
            body: .data(try encoder.encode(value))
        )
    }

    /// Returns the response for the wire; a `HEAD` request gets only the head.
    func response(to method: String) -> HTTPResponse {
        var headers = HTTPHeaders()
        for (name, value) in fields { headers.addValue(value, for: HTTPHeader(name)) }
        let code = HTTPStatusCode(status, phrase: DemoStatus.phrase(of: status))
        let sequence: HTTPBodySequence
        switch body {
        case .data(let data): sequence = HTTPBodySequence(data: data, suggestedBufferSize: 65_536)
        case .pattern(let count):
            sequence = HTTPBodySequence(from: PatternSequence(count: count), count: count, suggestedBufferSize: 65_536)
        }
        guard method != "HEAD" else {
            headers[.contentLength] = sequence.count.map(String.init)
            return HTTPResponse(statusCode: code, headers: headers)
        }
        return HTTPResponse(statusCode: code, headers: headers, body: sequence)
    }
}

/// The byte pattern, computed as it is sent.
private struct PatternSequence: AsyncBufferedSequence {
    typealias Element = UInt8
    let count: Int

    func makeAsyncIterator() -> Iterator { Iterator(count: count) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        let count: Int
        var offset = 0

        mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }

        mutating func nextBuffer(suggested size: Int) async throws -> Data? {
            guard offset < count else { return nil }
            let chunk = PatternBytes.make(count: Swift.min(size, count - offset), from: offset)
            offset += chunk.count
            return chunk
        }
    }
}
