import Foundation
import HTTPTypes
import Synchronization

// What OpenAPITransport.swift needs of swift-openapi-runtime 1.x, restated, so that this program does without the
// package. A program that has it takes OpenAPITransport.swift alone.

/// Sends the operations of a generated client.
protocol ClientTransport: Sendable {
    func send(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?)
}

/// A body as a sequence of chunks.
final class HTTPBody: AsyncSequence, Sendable {
    typealias ByteChunk = ArraySlice<UInt8>

    enum Length: Sendable, Equatable {
        case unknown
        case known(Int64)
    }

    enum IterationBehavior: Sendable {
        case single
        case multiple
    }

    struct ReadTwice: Error {}

    let length: Length
    let iterationBehavior: IterationBehavior
    private let make: @Sendable () -> Iterator
    private let isTaken = Mutex(false)

    init<Bytes: AsyncSequence & Sendable>(
        _ sequence: Bytes, length: Length, iterationBehavior: IterationBehavior
    ) where Bytes.Element: Sequence & Sendable, Bytes.Element.Element == UInt8 {
        (self.length, self.iterationBehavior) = (length, iterationBehavior)
        make = {
            var iterator = sequence.makeAsyncIterator()
            return Iterator { try await iterator.next().map { ByteChunk($0) } }
        }
    }

    convenience init(_ text: String) {
        let once = OneChunk(bytes: Array(text.utf8))
        self.init(once, length: .known(Int64(text.utf8.count)), iterationBehavior: .multiple)
    }

    func makeAsyncIterator() -> Iterator {
        let isSecond = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return isTaken
        }
        return isSecond && iterationBehavior == .single ? Iterator { throw ReadTwice() } : make()
    }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let produce: () async throws -> ByteChunk?

        mutating func next() async throws -> ByteChunk? { try await produce() }
    }
}

/// One chunk, for each iterator anew.
private struct OneChunk: AsyncSequence, Sendable {
    let bytes: [UInt8]

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes) }

    struct Iterator: AsyncIteratorProtocol {
        var rest: [UInt8]?

        mutating func next() async -> [UInt8]? { rest.take() }
    }
}
