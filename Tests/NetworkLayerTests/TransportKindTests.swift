import NetworkLayer
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct TransportKindTests {
    @Test func `an unset variable picks the standard`() throws {
        #expect(try TransportKind.selected(in: [:]) == .standard)
        #expect(try TransportKind.selected(in: ["OTHER": "urlsession"]) == .standard)
        #expect(TransportKind.standard == .curl)
    }

    @Test(arguments: [("curl", TransportKind.curl), ("urlsession", .urlsession)])
    func `a name picks the transport`(name: String, kind: TransportKind) throws {
        #expect(try TransportKind.selected(in: ["NETWORK_TRANSPORT": name]) == kind)
        #expect(kind.transport.name == name)
        #expect(kind.transport.capabilities.transport == name)
    }

    @Test(arguments: [
        "", " ", "CURL", "curl ", " curl", "Curl", "URLSession", "libcurl", "0", "curl,urlsession", "none",
    ])
    func `another name is refused with the choices`(name: String) throws {
        let error = try #require(throws: NetworkError.self) {
            try TransportKind.selected(in: ["NETWORK_TRANSPORT": name])
        }
        #expect(error.code == .invalidConfiguration)
        #expect(error.message == "NETWORK_TRANSPORT is '\(name)'; it must be 'curl' or 'urlsession'")
    }

    @Test func `an odd name is shown printable and short`() throws {
        let name = "\u{1B}[2J\r\n" + String(repeating: "x", count: 500)
        let error = try #require(throws: NetworkError.self) { try TransportKind(name: name, from: "--transport") }
        #expect(error.message.hasPrefix("--transport is '\\u{1B}[2J\\r\\nxxx"))
        #expect(error.message.count < 200)
    }
}
