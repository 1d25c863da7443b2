import Foundation
import TestSupport
import Testing

@testable import NetworkCore

/// Checks that a body becomes text piece by piece, so that neither time nor memory grows without a check.
@Suite(.patience(minutes: 1))
struct CharsetTests {
    private static let piece = Charset.pieceBytes

    private func text(_ charset: Charset, _ bytes: [UInt8], _ invalid: ResponseLines.InvalidText) -> String? {
        try? charset.text(of: bytes, invalid: invalid, "the text", pieceBytes: 16, check: {})
    }

    @Test(arguments: Charset.allCases, [ResponseLines.InvalidText.refused, .replaced])
    func `each piece is asked for`(charset: Charset, invalid: ResponseLines.InvalidText) throws {
        let bytes = [UInt8](repeating: 0x61, count: 5 * Self.piece + 1)
        var checks = 0
        let text = try charset.text(of: bytes, invalid: invalid, "the text", check: { checks += 1 })
        #expect(text.utf8.elementsEqual(bytes))
        #expect((6...7).contains(checks))
        for last in [1, 3] {
            checks = 0
            do {
                _ = try charset.text(of: Data(bytes), invalid: invalid, "the text") {
                    checks += 1
                    if checks == last { throw NetworkError.totalTimeout }
                }
                Issue.record("the decoding continued")
            } catch NetworkError.totalTimeout {
                #expect(checks == last)
            }
        }
    }

    /// Bytes where two pieces meet decode in the same way as elsewhere.
    @Test(
        arguments: [
            [0x61], [0xC3, 0xA9], [0xE2, 0x82, 0xAC], [0xF0, 0x9F, 0x98, 0x80], [0x80], [0xC3], [0xE2, 0x82], [0xFF],
            [0xF0, 0x9F, 0x98], [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x98, 0x80, 0x80], [0xEF, 0xBB, 0xBF], [0xE2, 0x61],
        ] as [[UInt8]])
    func `pieces meet anywhere`(unit: [UInt8]) {
        for shift in 0..<8 {
            let many = Array(repeating: unit, count: 40).joined()
            let bytes = Array(repeating: 0x62, count: shift) + many
            #expect(text(.utf8, [0x62] + bytes, .replaced) == String(decoding: [0x62] + bytes, as: UTF8.self))
            #expect(text(.utf8, [0x62] + bytes, .refused) == String(validating: [0x62] + bytes, as: UTF8.self))
            #expect(
                text(.latin1, bytes, .refused)?.unicodeScalars.elementsEqual(bytes.map { Unicode.Scalar($0) }) == true)
            let ascii = bytes.map { $0 < 0x80 ? Unicode.Scalar($0) : "\u{FFFD}" }
            #expect(text(.ascii, bytes, .replaced)?.unicodeScalars.elementsEqual(ascii) == true)
            #expect((text(.ascii, bytes, .refused) == nil) == bytes.contains { $0 >= 0x80 })
        }
    }

    @Test func `a byte order mark is left out at the start alone`() {
        #expect(text(.utf8, [0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF, 0x61], .refused) == "\u{FEFF}a")
        #expect(text(.utf8, [0xEF, 0xBB, 0xBF], .replaced)?.isEmpty == true)
        #expect(text(.latin1, [0xEF, 0xBB, 0xBF], .refused) == "ï»¿")
    }

    /// Regression: the whole text was decoded at once, and the deadline checked only afterwards.
    @Test(arguments: Charset.allCases, [ResponseLines.InvalidText.refused, .replaced])
    func `a text that takes too long is cut off`(charset: Charset, invalid: ResponseLines.InvalidText) async throws {
        let body = String(repeating: "a", count: 4 * Self.piece)
        let fields: HTTPFields = [.contentType: "text/plain; charset=\(charset.rawValue)"]
        let client = NetworkClient(transport: AnsweringTransport(.init(fields: fields, body: body)))
        let reading = Task {
            let lines = try await client.send(
                RequestData(path: "http://h/"), as: .lines(invalid: invalid, maximumLineBytes: Int.max))
            withUnsafeCurrentTask { $0?.cancel() }
            for try await _ in lines.body {}
        }
        await expectFailure(.cancelled) { try await reading.value }
    }
}
