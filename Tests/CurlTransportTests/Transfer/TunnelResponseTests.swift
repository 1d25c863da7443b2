import Testing

@testable import CurlTransport

@Suite("A proxy's response to CONNECT")
struct TunnelResponseTests {
    @Test func `a limited number of bytes may come, in one call or in several`() {
        for calls in [1, 10] {
            var answer = TunnelResponse()
            var bytes = 0
            while answer.progresses(in: 1 + bytes * calls / TunnelResponse.maximumBytes, moved: 0) { bytes += 1 }
            #expect((TunnelResponse.maximumBytes...TunnelResponse.maximumBytes + 1_000).contains(bytes))
        }
    }

    @Test func `a tunnel that opens within a body in chunks is seen`() {
        var response = TunnelResponse()
        func says(_ line: String) -> Bool {
            response.logged((line + "\n").utf8)
            return response.isOpenTooEarly
        }
        #expect(!says("CONNECT phase completed!"))
        #expect(!says("Ignore chunked response-body") && !says("chunk reading DONE"))
        #expect(!says("CONNECT phase completed!"))
        #expect(!says("Ignore chunked response-body") && !says("Connection #0 to host left intact"))
        #expect(says("CONNECT phase completed!"))
    }

    @Test(arguments: [
        "Proxy CONNECT connection closed", "Proxy CONNECT aborted due to timeout", "Connect me again please",
        "Received HTTP code 407 from proxy after CONNECT", "Establish HTTP proxy tunnel to h:80",
    ])
    func `a body in chunks that is cut off opens no tunnel`(end: String) {
        var response = TunnelResponse()
        for line in ["Ignore chunked response-body", end, "CONNECT phase completed!"] { response.logged(line.utf8) }
        #expect(!response.isOpenTooEarly)
    }

    @Test func `calls as ordinary transfers have them do not count`() {
        var answer = TunnelResponse()
        let goesOn = (1...200_000).allSatisfy { call in
            // A few progress calls for each call of libcurl, and more for one that moves a body.
            (0..<10).allSatisfy { _ in answer.progresses(in: call / 2, moved: 0) }
        }
        #expect(goesOn)
        #expect((1...200_000).allSatisfy { answer.progresses(in: 0, moved: $0) })
    }
}
