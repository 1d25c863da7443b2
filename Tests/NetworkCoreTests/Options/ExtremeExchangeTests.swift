import Foundation
import Testing

@testable import NetworkCore

/// What a caller, a transport of a caller's or an interceptor hands over must not end the process either.
@Suite("Extreme values of exchanges")
struct ExtremeExchangeTests {
    /// Regression: a transport that can't stream got a body of -1 bytes made for its check.
    @Test(arguments: [-1, .min, .max, 1]) func `a body of any length is sent or refused`(length: Int) async throws {
        let client = NetworkClient(transport: AnsweringTransport(streamsBodies: false) { _ in .init() })
        var request = try TransportRequest.make(.post, "http://a.test/")
        request.body = .stream(AsyncStream<Data> { $0.finish() }, length: length)
        let error = await #expect(throws: NetworkError.self) { _ = try await client.send(request, as: .data) }
        #expect(error?.code == (length < 0 ? .invalidOption : .bodyLengthMismatch))
    }

    @Test(arguments: ExtremeValueTests.numbers) func `a body is compressed with any level, or not`(level: Int) throws {
        var request = try TransportRequest.make(.post, "http://a.test/")
        request.body = .bytes(Data("x".utf8))
        request.options.requestCompression = .gzip(level: level)
        _ = (try? request.wireBody(), request.curlCommand())
    }

    @Test func `any number of repeats is counted`() {
        let call = NetworkClient.Call()
        for repeats in ExtremeValueTests.numbers { call.count(repeats: repeats) }
        #expect(call.attempts == .max)
        var metrics = TransportMetrics(total: .zero)
        (metrics.repeats, metrics.resends) = (.max, .max)
        #expect(metrics.following(rounds: 1, repeats: 1, of: .zero).repeats == .max)
    }

    @Test(arguments: [-Double.infinity, -1.7e20, .infinity, 1e300, .nan])
    func `a date to retry after is met by any clock`(seconds: Double) {
        let fields: HTTPFields = [.retryAfter: "Wed, 21 Oct 2026 07:28:00 GMT"]
        let pause = RetryAfter.duration(in: fields, now: Date(timeIntervalSince1970: seconds))
        #expect(pause.map { $0 >= .zero && $0 <= .seconds(1 << 40) } != false)
    }

    /// Adds as many fields as a request can have.
    private struct Filling: Interceptor {
        func intercept(
            _ request: TransportRequest, in call: NetworkClient.Call, next: NetworkClient.Next
        ) async throws -> TransportResponse {
            var request = request
            request.headerFields = HTTPFields(
                (0..<HTTPFields.maximumFields).map { HTTPField(name: HTTPField.Name("a\($0)")!, value: "") })
            return try await next(request)
        }
    }

    /// Regression: the fields were counted before the interceptors, and cookie and token were one too many.
    @Test func `an interceptor may add any number of fields`() async throws {
        var client = NetworkClient(transport: AnsweringTransport(.init()))
        client.interceptors = [Filling()]
        let jar = CookieJar(publicSuffixes: .builtIn)
        try jar.set(CookieJar.Cookie(name: "n", value: "v", domain: "a.test"))
        client.cookieJar = jar
        client.exchangeInterceptors = [try BearerAuthentication(for: ["http://a.test"], token: "t")]
        let request = try TransportRequest.make(.get, "http://a.test/")
        let error = await #expect(throws: NetworkError.self) { _ = try await client.send(request, as: .data) }
        #expect(error?.code == .invalidHeaderField)
    }
}
