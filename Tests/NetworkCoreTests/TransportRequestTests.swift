import Foundation
import NetworkCore
import Synchronization
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct TransportRequestTests {
    private let nothing = TransportCapabilities(transport: "bare", basis: "", supported: [])

    @Test(
        arguments: [
            (Duration.zero, false), (.seconds(-1), false), (.milliseconds(-1), false), (.nanoseconds(1), true),
            (.seconds(365 * 86_400), true), (.seconds(365 * 86_400 + 1), false), (.seconds(Int64.max), false),
        ]
    )
    func `a timeout has a range`(value: Duration, isAccepted: Bool) throws {
        for (name, path) in [
            ("connectTimeout", \TransportOptions.connectTimeout), ("idleTimeout", \.idleTimeout),
            ("totalTimeout", \.totalTimeout),
        ] as [(String, WritableKeyPath<TransportOptions, Duration?>)] {
            var options = TransportOptions()
            options[keyPath: path] = value
            guard !isAccepted else {
                try options.check()
                continue
            }
            let error = try #require(throws: NetworkError.self) { try options.check() }
            #expect(error.code == .invalidOption)
            #expect(error.message.contains(name))
        }
    }

    /// Regression: the limit applied only to the fields of a `RequestData`.
    /// Regression: HTTPFields traps beyond 65,534 fields, and looking for a name takes as long as there are fields.
    @Test func `more header fields than a request can have are refused`() {
        let headers = Dictionary(uniqueKeysWithValues: (0..<70_000).map { ("n\($0)", "v") })
        expectFailure(.invalidHeaderField) {
            try RequestData(path: "http://h/", headerFields: headers).transportRequest()
        }
    }

    /// Regression: what is no UTF-8 went out as U+FFFD.
    @Test func `a header value that is not UTF-8 is refused`() throws {
        func check(_ bytes: [UInt8]) throws {
            var request = TransportRequest(url: try RequestURL("http://h/"))
            request.headerFields.append(HTTPField(name: .userAgent, value: bytes))
            try request.check(for: TransportCapabilities(transport: "bare", basis: "", supported: [.bodyOnGet]))
        }
        expectFailure(.invalidHeaderField) { try check([0x63, 0x61, 0x66, 0xE9]) }
        try check(Array("caf\u{E9}".utf8))
        try check(Array("caf\u{FFFD}".utf8))
    }

    /// Regression: the stream was read to its end first, and gone.
    @Test func `a stream is not read for a request that can't be sent`() async throws {
        let isRead = Guarded(false)
        let stream = AsyncStream<Data> {
            isRead.withLock { $0 = true }
            return nil
        }
        let body = TransportRequest.Body.stream(stream, length: 1)
        let isEncodedTwice: (inout TransportRequest) -> Void = {
            $0.options.requestCompression = .gzip
            $0.headerFields[.contentEncoding] = "gzip"
        }
        for change in [{ $0.method = .trace }, { $0.options.idleTimeout = .seconds(-1) }, isEncodedTwice]
            as [(inout TransportRequest) -> Void]
        {
            var request = TransportRequest(method: .post, url: try RequestURL("http://h/"), body: body)
            change(&request)
            isRead.withLock { $0 = false }
            let asked = request
            let client = NetworkClient(transport: AnsweringTransport(streamsBodies: false) { _ in .init() })
            await #expect(throws: NetworkError.self) { _ = try await client.send(asked, as: .data) }
            #expect(isRead.withLock { !$0 })
        }
    }

    @Test func `header values have one limit`() throws {
        let (most, more) = (String(repeating: "a", count: 65_536), String(repeating: "a", count: 65_537))
        for value in [most, more] {
            var request = TransportRequest(url: try RequestURL("http://h/"))
            request.headerFields[.userAgent] = value
            let data = RequestData(path: "http://h/", headerFields: ["User-Agent": value])
            if value == most {
                try request.check(for: nothing)
                #expect(try data.transportRequest().headerFields == request.headerFields)
            } else {
                expectFailure(.invalidHeaderField) { try request.check(for: nothing) }
                expectFailure(.invalidHeaderField) { try data.transportRequest() }
            }
        }
        var cookies = TransportRequest(url: try RequestURL("http://h/"))
        for name in ["a", "b"] {
            cookies.headerFields.append(HTTPField(name: .cookie, value: "\(name)=" + most.prefix(40_000)))
        }
        expectFailure(.invalidHeaderField) { try cookies.check(for: nothing) }
    }

    @Test func `several cookie fields are sent as one`() throws {
        var request = TransportRequest(url: try RequestURL("http://h/"))
        request.headerFields[.cookie] = "a=1; b=2"
        #expect(request.wireFields[values: .cookie] == ["a=1; b=2"])
        // A range of a coded body is none of the body (RFC 9110 §14).
        request.headerFields[.range] = "bytes=0-9"
        #expect(request.wireFields[.acceptEncoding] == "identity")
    }

    @Test func `options without timeouts are accepted`() throws {
        var options = TransportOptions()
        options.connectTimeout = nil
        options.idleTimeout = nil
        options.maximumBodyBytes = 0
        try options.check()
        options.maximumBodyBytes = -1
        expectFailure(.invalidOption) { try options.check() }
    }

    @Test func `a missing capability is named with the transport`() throws {
        var requests: [(TransportRequest, TransportCapabilities.Capability)] = []
        let plain = try TransportRequest(url: RequestURL("http://h/"))
        for (version, capability) in [
            (TransportOptions.HTTPVersion.http1_0, TransportCapabilities.Capability.http1_0), (.http1_1, .http1_1),
            (.http2, .http2),
        ] {
            var request = plain
            request.options.httpVersion = version
            requests.append((request, capability))
        }
        var raw = plain
        raw.options.decompress = false
        requests.append((raw, .rawBodies))
        var body = plain
        body.body = .bytes(Data([1]))
        requests.append((body, .bodyOnGet))
        requests.append((try TransportRequest(url: RequestURL("http://[::1]/")), .ipv6Literals))
        for (request, capability) in requests {
            let error = try #require(throws: NetworkError.self) { try request.check(for: nothing) }
            #expect(error.code == .unsupported)
            #expect(error.message.contains(capability.rawValue))
            #expect(error.message.contains("bare"))
        }
        try plain.check(for: nothing)
    }

    @Test(arguments: [HTTPRequest.Method.connect, .trace])
    func `a method that no transport carries is unsupported`(method: HTTPRequest.Method) throws {
        let request = try TransportRequest(method: method, url: RequestURL("http://h/"))
        expectFailure(.unsupported) { try request.check(for: nothing) }
    }

    @Test func `a body with HEAD is unsupported`() throws {
        let request = try TransportRequest(method: .head, url: RequestURL("http://h/"), body: .bytes(Data([1])))
        expectFailure(.unsupported) { try request.check(for: nothing) }
    }

    @Test func `header fields beyond the limit are refused`() throws {
        var request = try TransportRequest(url: RequestURL("http://h/"))
        let name = try #require(HTTPField.Name("X-Big"))
        for _ in 0..<5 {
            request.headerFields.append(HTTPField(name: name, value: String(repeating: "v", count: 60_000)))
        }
        expectFailure(.invalidHeaderField) { try request.check(for: nothing) }
    }

    @Test(
        arguments: [
            (Duration.zero, 0), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.microseconds(1500), 2),
            (.seconds(2), 2000),
            (.seconds(Int64.max), Int.max / 2),
        ]
    )
    func `milliseconds are rounded up and capped`(duration: Duration, milliseconds: Int) {
        #expect(duration.roundedUpMilliseconds == milliseconds)
    }
}
