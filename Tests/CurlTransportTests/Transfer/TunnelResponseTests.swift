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
