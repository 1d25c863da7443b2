import Foundation
import NetworkComparison
import Testing
import ToolSupport

@testable import netlayer

@Suite("The output of a program", .patience(minutes: 1)) struct ProgramOutputTests {
    private static func response(_ bytes: [UInt8], chunk: Int, limit: Int) -> RecordedResponse {
        var (output, response) = (ProgramOutput(limit: limit), RecordedResponse())
        for start in stride(from: 0, to: bytes.count, by: chunk) {
            output.add(Array(bytes[start..<min(start + chunk, bytes.count)]))
        }
        output.setBody(of: &response)
        return response
    }

    /// Regression: the output was cut after the chunk that exceeded the limit, and what came then was not compared.
    @Test func `output beyond the limit is compared whole, whatever its chunks are`() {
        let limit = RecordedResponse.maximumBody
        var bytes = [UInt8](repeating: 7, count: limit + 100_000)
        let first = Self.response(bytes, chunk: 65_536, limit: limit)
        #expect(first.body.isEmpty && first.bodyBytes == bytes.count && first.digest != nil)
        #expect(first == Self.response(bytes, chunk: 4_099, limit: limit))
        // The same as of bytes that were kept.
        #expect(first == Self.response(bytes, chunk: 65_536, limit: .max))
        bytes[bytes.count - 1] = 8
        #expect(first.digest != Self.response(bytes, chunk: 65_536, limit: limit).digest)
        #expect(first != Self.response(Array(bytes.dropLast()), chunk: 65_536, limit: limit))
    }

    @Test func `output up to the limit is kept`() {
        let bytes = Array("hello".utf8)
        #expect(Self.response(bytes, chunk: 2, limit: RecordedResponse.maximumBody).body == Data(bytes))
        #expect(Self.response([], chunk: 1, limit: RecordedResponse.maximumBody) == RecordedResponse())
    }
}
