import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

/// Credentials come from the request or else from the client, whose credentials stay with the origin of its base URL.
@Suite(.patience(minutes: 1))
struct ClientIdentityTests {
    /// The credentials of one request and its client.
    struct Case: Sendable, CustomTestStringConvertible {
        enum Place: CaseIterable { case base, other, noBase }
        var place = Place.base
        /// Whether the request is a `TransportRequest`, which has its own options, or a `RequestData` without any.
        var isComplete = false
        var clientField = false
        var clientAuthentication = false
        var field = false
        var authentication = false
        var inURL = false
        var inBase = false

        static let all: [Case] = Place.allCases.flatMap { place in
            (0..<128).compactMap { bits in
                let bit = { (number: Int) in bits >> number & 1 == 1 }
                let one = Case(
                    place: place, isComplete: bit(0), clientField: bit(1), clientAuthentication: bit(2), field: bit(3),
                    authentication: bit(4), inURL: bit(5), inBase: bit(6))
                // A `RequestData` has no options of its own.
                if one.authentication, !one.isComplete { return nil }
                return one.inBase && place == .noBase ? nil : one
            }
        }

        /// The field that goes out; `isSent` is `false` for a request that contradicts itself.
        var expected: (isSent: Bool, field: String?) {
            if field, authentication { return (false, nil) }
            if authentication { return (true, "Bearer own") }
            if field { return (true, "Own field") }
            if inURL { return (true, "Basic dTpw") }
            guard place != .other else { return (true, nil) }
            let takesOptions = clientAuthentication && !isComplete
            if takesOptions, clientField { return (false, nil) }
            if takesOptions { return (true, "Bearer client") }
            if clientField { return (true, "Client field") }
            return (true, inBase ? "Basic YjpxNw==" : nil)
        }

        var base: String? { place == .noBase ? nil : "https://" + (inBase ? "b:q7@" : "") + "home.example/v1" }

        var url: String {
            "https://" + (inURL ? "u:p@" : "") + (place == .other ? "other.example/x" : "home.example/v1/x")
        }

        var testDescription: String {
            let parts = [
                (isComplete, "complete"), (clientField, "client's field"), (clientAuthentication, "client's option"),
                (field, "own field"), (authentication, "own option"), (inURL, "in URL"), (inBase, "in base"),
            ]
            return ["\(place)"].joined() + parts.filter(\.0).map { ", " + $0.1 }.joined()
        }
    }

    private func client(_ stub: StubTransport, base: String? = "https://home.example/v1") -> NetworkClient {
        NetworkClient(transport: stub, baseURL: base)
    }

    @Test(arguments: Case.all)
    func `a request's values come first, then the client's at home`(test: Case) async throws {
        let stub = StubTransport(always: .text("x"))
        var client = client(stub, base: test.base)
        if test.clientField { client.headerFields[.authorization] = "Client field" }
        if test.clientAuthentication { client.options.authentication = .bearer(token: "client") }
        let send = { [client] in
            guard test.isComplete else {
                let headers = test.field ? ["Authorization": "Own field"] : [:]
                return try await client.send(RequestData(url: test.url, headerFields: headers), as: .text)
            }
            var request = try TransportRequest(to: test.url)
            if test.field { request.headerFields[.authorization] = "Own field" }
            if test.authentication { request.options.authentication = .bearer(token: "own") }
            return try await client.send(request, as: .text)
        }
        guard test.expected.isSent else {
            await expectFailure(.invalidOption, from: send)
            return
        }
        _ = try await send()
        #expect(stub.sent.map { $0.headerFields[values: .authorization] } == [test.expected.field.map { [$0] } ?? []])
    }

    @Test func `values for one origin stay with the bases`() async throws {
        let stub = StubTransport(always: .text("x"))
        let host = HTTPField.Name("Host")!
        var client = client(stub)
        client.options.tls.clientCertificate = .init(.file("/certificate"))
        client.options.tls.serverName = "inner.example"
        client.options.tls.minimumVersion = .tls1_3
        client.options.authentication = .basic(user: "u", password: "p")
        client.headerFields = [host: "inner.example", .referer: "https://home.example/secret", .acceptLanguage: "de"]
        for request in [RequestData(path: "x"), RequestData(url: "https://home.example:443/y")] {
            _ = try await client.send(request, as: .text)
            let sent = try #require(stub.sent.last)
            #expect(sent.options.tls == client.options.tls)
            #expect(sent.options.authentication == client.options.authentication)
            #expect(sent.headerFields.contains(host) && sent.headerFields.contains(.referer))
        }
        let elsewhere = [
            RequestData(url: "https://other.example/"), RequestData(path: "x", baseURL: "https://home.example:444"),
        ]
        for request in elsewhere {
            _ = try await client.send(request, as: .text)
            let sent = try #require(stub.sent.last)
            #expect(sent.options.tls.clientCertificate == nil)
            #expect(sent.options.tls.serverName == nil)
            #expect(sent.options.authentication == nil)
            #expect(!sent.headerFields.contains(host) && !sent.headerFields.contains(.referer))
            // The client's other options apply to every request.
            #expect(sent.options.tls.minimumVersion == .tls1_3)
            #expect(sent.headerFields[.acceptLanguage] == "de")
        }
    }

    /// Credentials that the request would not send do not count.
    @Test func `user and password of another origin leave it to the client`() async throws {
        let stub = StubTransport(always: .text("x"))
        var client = client(stub)
        client.headerFields[.authorization] = "Client field"
        var request = try TransportRequest(to: "https://u:p@other.example/")
        request.url = try RequestURL("https://home.example/v1/x")
        _ = try await client.send(request, as: .text)
        #expect(stub.sent.map { $0.headerFields[values: .authorization] } == [["Client field"]])
    }

    /// They are the client's own, and rank below its field and its option.
    @Test func `user and password of the base are the client's`() async throws {
        let stub = StubTransport(always: .text("x"))
        var client = client(stub, base: "https://u:p@home.example/v1")
        func sent(_ request: RequestData) async throws -> String? {
            _ = try await client.send(request, as: .text)
            return stub.sent.last?.headerFields[.authorization]
        }
        #expect(try await sent(RequestData(path: "x")) == "Basic dTpw")
        #expect(try await sent(RequestData(url: "https://other.example/")) == nil)
        client.options.authentication = .bearer(token: "client")
        #expect(try await sent(RequestData(path: "x")) == "Bearer client")
        #expect(try await sent(RequestData(path: "x", baseURL: "https://a:b@home.example")) == "Basic YTpi")
        client.options.authentication = nil
        client.headerFields[.authorization] = "Client field"
        #expect(try await sent(RequestData(path: "x")) == "Client field")
        #expect(try await sent(RequestData(path: "x", baseURL: "https://a:b@home.example")) == "Basic YTpi")
    }
}
