import NetworkLayer
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct TransportKindTests {
    @Test(arguments: TransportKind.allCases)
    func `a name is that of a transport`(kind: TransportKind) throws {
        #expect(try TransportKind(name: kind.rawValue, from: "--transport") == kind)
        #expect(kind.transport.name == kind.rawValue)
        #expect(TransportKind.standard == .curl)
    }

    @Test func `an odd name is shown printable and short`() throws {
        let name = "\u{1B}[2J\r\n" + String(repeating: "x", count: 500)
        let error = try #require(throws: NetworkError.self) { try TransportKind(name: name, from: "--transport") }
        #expect(error.message.hasPrefix("--transport is '\\u{1B}[2J\\r\\nxxx"))
        #expect(error.message.count < 200)
    }
}
