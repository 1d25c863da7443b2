import Foundation
import NetworkLayer
import Testing
import ToolSupport

@testable import netlayer

/// Checks that a terminal shows the same for a body in chunks as for the whole body, wherever the chunks end.
@Suite("The terminal's filter", .patience(minutes: 1)) struct TerminalFilterTests {
    /// Pieces of characters: whole ones, incomplete ones, and invalid bytes.
    private static let pieces: [[UInt8]] = [
        [0x61], [0x0A], [0x1B], [0xC3], [0xA9], [0xC3, 0xA9], [0xE2, 0x82], [0xE2, 0x82, 0xAC], [0xF0, 0x9F, 0x98],
        [0xF0, 0x9F, 0x98, 0x80], [0xF0], [0x80], [0xFF], [0xE0, 0x80], [0xED, 0xA0, 0x80], [0xC2, 0x9B], [0xF8],
    ]

    private static func whole(_ bytes: [UInt8]) -> String {
        TerminalText.visible(String(decoding: bytes, as: UTF8.self))
    }

    private static func inChunks(_ bytes: [UInt8], of size: Int) -> String {
        var filter = TerminalFilter()
        var shown: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            shown += filter.visible(bytes[start..<min(start + size, bytes.count)])
        }
        return String(decoding: shown + filter.end(), as: UTF8.self)
    }

    @Test func `an incomplete character at the end is shown`() {
        for piece in Self.pieces {
            let bytes = Array("abc".utf8) + piece
            #expect(Self.inChunks(bytes, of: bytes.count) == Self.whole(bytes), "\(bytes)")
            #expect(Self.inChunks(bytes, of: bytes.count).unicodeScalars.count > 3)
        }
    }

    @Test func `any bytes look the same in chunks of any size`() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...12, using: &generator)).flatMap { _ in
                Self.pieces.randomElement(using: &generator) ?? []
            }
            for size in 1...5 { #expect(Self.inChunks(bytes, of: size) == Self.whole(bytes), "\(bytes) by \(size)") }
        }
    }

    @Test(arguments: [nil, NetworkError.cancelled])
    func `the end of a body is shown, also after a failure`(failure: NetworkError?) async throws {
        let folder = TestFolder()
        let file = try Descriptor.open(folder.path("out"), O_WRONLY | O_CREAT, mode: 0o600)
        let printer = ResponsePrinter(writer: OutputWriter(file, named: "out"), isTerminal: true)
        let body = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data([0x61, 0x62, 0xC3]))
            continuation.yield(Data([0xA9, 0xE2, 0x82]))
            continuation.finish(throwing: failure)
        }
        var met: NetworkError?
        do { try await printer.print(head: Array("A: b\r\n".utf8), body: body) } catch let error as NetworkError {
            met = error
        }
        #expect(met?.code == failure?.code)
        try file.close()
        #expect(try folder.read("out") == "A: b\nabé\u{FFFD}")
    }
}
