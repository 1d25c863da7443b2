package import Foundation
package import NetworkCore
package import NetworkTesting

extension Script.Step {
    /// Sends a whole response with its length, and keeps the connection.
    package static func respond(_ status: Int, _ text: String = "", fields: [(String, String)] = []) -> Self {
        .send(Script.head(status, fields: fields + [("Content-Length", "\(text.utf8.count)")]) + Data(text.utf8))
    }

    package static func ok(_ text: String = "") -> Self { respond(200, text) }
}

extension AsyncStream<Data> {
    /// Returns a stream of chunks that ends after the last one.
    package static func of(_ chunks: [Data]) -> Self {
        AsyncStream { stream in
            for chunk in chunks { stream.yield(chunk) }
            stream.finish()
        }
    }

    package static func of(_ texts: String...) -> Self { of(texts.map { Data($0.utf8) }) }
}

/// Runs some work many times at once. Returns the results in the order in which they come.
package func atOnce<Value: Sendable>(
    _ count: Int, _ work: @escaping @Sendable (Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for number in 0..<count { group.addTask { try await work(number) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}

extension TransportRequest.Body {
    /// Returns a body of chunks that can be sent once.
    package static func once(_ chunks: [Data], length: Int? = nil) -> Self {
        .stream(AsyncStream.of(chunks), length: length)
    }

    package static func once(_ texts: String...) -> Self { once(texts.map { Data($0.utf8) }) }

    /// Returns a body of chunks that can be sent again.
    package static func replayable(_ chunks: [Data], length: Int? = nil) -> Self {
        .replayableStream(length: length) { AsyncStream.of(chunks) }
    }
}
