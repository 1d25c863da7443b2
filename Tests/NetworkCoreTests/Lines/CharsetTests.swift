import Foundation
import TestSupport
import Testing

@testable import NetworkCore

@Suite(.patience(minutes: 1))
struct CharsetTests {
    private func text(_ charset: Charset, _ bytes: [UInt8], _ invalid: ResponseLines.InvalidText) -> String? {
        try? charset.text(of: bytes, invalid: invalid, "the text")
    }

    @Test(
        arguments: [
            [0x61], [0xC3, 0xA9], [0xE2, 0x82, 0xAC], [0xF0, 0x9F, 0x98, 0x80], [0x80], [0xC3], [0xE2, 0x82], [0xFF],
            [0xF0, 0x9F, 0x98], [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x98, 0x80, 0x80], [0xEF, 0xBB, 0xBF], [0xE2, 0x61],
        ] as [[UInt8]])
    func `bytes of any kind become text`(unit: [UInt8]) {
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
}
