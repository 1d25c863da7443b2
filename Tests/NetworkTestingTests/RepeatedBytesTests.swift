import Foundation
import NetworkCore
import NetworkTesting
import Testing

@testable import CurlTransport

struct RepeatedBytesTests {
    /// Returns the data without one gzip coding.
    private func unpacked(_ packed: Data) throws -> Data {
        var chain = DecodingChain([("gzip", Inflater(.gzip))])
        chain.append(packed)
        var plain = Data()
        while true {
            switch try chain.step() {
            case .piece(let piece): plain += piece
            case .noOutput: break
            case .needsInput: return plain
            }
        }
    }

    /// All but what fills no block.
    @Test(arguments: [1, 2, 3, 4, 5, 6, 13, 20, 258, 1_000, 32_768])
    func `packed bytes are the start of the plain ones`(size: Int) throws {
        let repeated = RepeatedBytes(
            PatternBytes.make(count: size), times: 2_000_000 / size + 2, after: Data("start".utf8))
        let (whole, once) = (repeated.bytes, repeated.gzipped())
        let plain = try unpacked(once.bytes)
        #expect(whole.prefix(plain.count) == plain)
        #expect(whole.count - plain.count < 65_536 + size)
        let twice = try unpacked(try unpacked(once.gzipped().bytes))
        #expect(whole.prefix(twice.count) == twice)
    }
}
