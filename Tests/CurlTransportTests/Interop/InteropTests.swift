import NetworkCore
import Testing

@testable import CurlTransport

@Suite("Mapping of libcurl's error numbers")
struct CurlFailureTests {
    private static let ownWords = CurlCode.http2.words

    /// Without an explanation from libcurl, it is the end of a connection. With one, the error concerns the bytes that
    /// came.
    @Test(
        arguments: [
            (nil, false, .connectionLost), ("", false, .connectionLost), (ownWords, false, .connectionLost),
            ("nghttp2 error -505: invalid frame", false, .invalidResponse), (ownWords, true, .invalidResponse),
            ("Send failure: Broken pipe", false, .connectionLost),
            ("Recv failure: Connection reset by peer", false, .connectionLost),
            ("Recv failure: Connection reset by peer", true, .truncatedBody),
        ] as [(String?, Bool, NetworkError.Code)])
    func `an HTTP/2 connection that ends before a head is lost`(text: String?, isInBody: Bool, code: NetworkError.Code)
    {
        let error = CurlFailure.error(.http2, text: text, phase: .waiting, isInBody: isInBody)
        #expect(error.code == code)
        #expect(error.underlying?.code == 16)
    }

    /// Regression: what no repeat can mend was taken for a lost connection, and repeated.
    @Test(
        arguments: [
            (.http2Stream, "Invalid HTTP header field was received: frame type: 1", false, .invalidResponse),
            (
                .http2Stream, "[1] received invalid frame: FRAME[DATA], error -505: Protocol error", true,
                .invalidResponse
            ),
            (.http2Stream, "[1] received invalid frame: FRAME[DATA], error -532: Violation", true, .truncatedBody),
            (.http2Stream, "HTTP/2 stream 1 was not closed cleanly: INTERNAL_ERROR (err 2)", false, .connectionLost),
            (.recvError, "nghttp2 error -905: Too many CONTINUATION frames", false, .responseHeadTooLarge),
            (.http2, "nghttp2 error: Too many CONTINUATION frames", true, .responseHeadTooLarge),
        ] as [(CurlCode, String, Bool, NetworkError.Code)])
    func `what HTTP/2 does not allow is no lost connection`(
        fault: CurlCode, text: String, isInBody: Bool, code: NetworkError.Code
    ) {
        #expect(CurlFailure.error(fault, text: text, phase: .waiting, isInBody: isInBody).code == code)
    }

    /// Regression: heads without end of a proxy were the response's.
    @Test(
        arguments: [
            (.recvError, "Too large response headers: 307217 > 307200"),
            (.tooLarge, "Too many response headers, 5000 is max"),
        ] as [(CurlCode, String)])
    func `too large heads before the request are the proxy's`(fault: CurlCode, text: String) {
        let (early, late) = (NetworkError.Phase.connecting, NetworkError.Phase.waiting)
        #expect(CurlFailure.error(fault, text: text, phase: early, isInBody: false).code == .proxyFailed)
        #expect(CurlFailure.error(fault, text: text, phase: late, isInBody: false).code == .responseHeadTooLarge)
    }

    /// libcurl 8.23 reports a QUIC port that refuses as a lost connection, and so a server that is not there at all.
    @Test(arguments: [true, false])
    func `a connection that a request for HTTP 3 did not get is no lost one`(isAlone: Bool) throws {
        for code in [CurlCode.recvError, .sendError, .couldNotConnect, .quicConnectError] {
            let error = try #require(CurlFailure.noQUIC(code, text: nil, isAlone: isAlone))
            #expect(error.code == .connectFailed && error.phase == .connecting && error.message.contains("QUIC"))
            #expect(error.message.contains("TCP") == !isAlone)
        }
        for code in [CurlCode.couldNotResolveHost, .pinnedKeyMismatch, .peerFailedVerification] {
            #expect(CurlFailure.noQUIC(code, text: nil, isAlone: isAlone) == nil)
        }
    }

    @Test func `a proxy whose scheme libcurl lacks is a failure of the proxy`() {
        let text = "Unsupported proxy scheme for 'ftp://u:canary@127.0.0.1'"
        let error = CurlFailure.error(.couldNotConnect, text: text, phase: .connecting, isInBody: false)
        #expect(error.code == .proxyFailed && !"\(error)".contains("canary"))
    }

    /// CURLE_COULDNT_RESOLVE_PROXY, COULDNT_RESOLVE_HOST, COULDNT_CONNECT, INTERFACE_FAILED, PROXY, SSL_CONNECT_ERROR,
    /// SSL_CERTPROBLEM, PEER_FAILED_VERIFICATION, SSL_PINNEDPUBKEYNOTMATCH, SSL_INVALIDCERTSTATUS, SSL_CLIENTCERT, and
    /// two codes that may occur at any time.
    @Test(arguments: [
        5: true, 6: true, 7: true, 45: true, 97: true, 35: true, 58: true, 60: true, 90: true, 91: true, 98: true,
        16: false, 56: false,
    ])
    func `a connection that is refused is refused while connecting`(number: Int, isConnecting: Bool) {
        #expect(CurlFailure.phase(of: CurlCode(rawValue: number)) == (isConnecting ? .connecting : nil))
    }
}

@Suite("A region of buffers")
struct BufferRegionTests {
    private let region = BufferRegion([(65_537, 3), (1_000, 3)])

    @Test func `each piece belongs to its taker alone`() throws {
        let large = (0..<4).map { _ in region.take(65_537) }
        let small = (0..<4).map { _ in region.take(1_000) }
        #expect(large.map { $0 != nil } == [true, true, true, false])
        #expect(small.map { $0 != nil } == [true, true, true, false])
        for (number, piece) in large.compactMap(\.self).enumerated() {
            #expect(region.holds(piece) && region.size(of: piece) == 65_537)
            piece.initializeMemory(as: UInt8.self, repeating: UInt8(number + 1), count: 65_537)
        }
        for piece in small.compactMap(\.self) {
            #expect(region.holds(piece) && region.size(of: piece) == 1_000)
            piece.initializeMemory(as: UInt8.self, repeating: 9, count: 1_000)
        }
        for (number, piece) in large.compactMap(\.self).enumerated() {
            let bytes = UnsafeRawBufferPointer(start: piece, count: 65_537)
            #expect(bytes.allSatisfy { $0 == UInt8(number + 1) })
        }
    }

    @Test func `a piece that was given back is taken again, and forgets its bytes`() throws {
        let piece = try #require(region.take(1_000))
        piece.storeBytes(of: 7, as: UInt8.self)
        region.give(piece)
        region.drop()
        #expect(region.take(1_000) == piece)
        #expect(piece.load(as: UInt8.self) == 0)
    }

    @Test func `a taken piece is not forgotten, and one that comes back later is`() throws {
        let (first, second) = (try #require(region.take(1_000)), try #require(region.take(1_000)))
        for piece in [first, second] { piece.storeBytes(of: 7, as: UInt8.self) }
        region.give(second)
        region.drop()
        #expect(first.load(as: UInt8.self) == 7)
        region.give(first)
        region.drop()
        #expect(region.take(1_000) == first && region.take(1_000) == second)
        #expect(first.load(as: UInt8.self) == 0 && second.load(as: UInt8.self) == 0)
    }

    @Test func `a region takes back no piece of another size or memory`() throws {
        #expect(region.take(999) == nil)
        #expect(!region.holds(nil))
        let other = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
        defer { other.deallocate() }
        #expect(!region.holds(other))
    }
}

@Suite("Events from epoll")
struct EpollEventTests {
    /// EPOLLIN, EPOLLOUT, EPOLLERR and EPOLLHUP (epoll_ctl(2)).
    @Test(
        arguments: [
            (0x01, [true, false, false]), (0x04, [false, true, false]), (0x10, [true, false, false]),
            (0x08, [true, false, true]), (0x0C, [true, true, true]), (0x19, [true, false, true]),
            (0, [false, false, false]),
        ] as [(UInt32, [Bool])])
    func `an error and an end are there to be read`(flags: UInt32, expected: [Bool]) {
        let event = Epoll.Event(descriptor: 3, flags: flags)
        #expect([event.isReadable, event.isWritable, event.hasError] == expected)
        #expect(event.descriptor == 3)
    }
}
