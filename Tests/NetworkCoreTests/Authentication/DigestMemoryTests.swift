import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import NetworkCore

/// Nonces that serve more than one request (RFC 7616 §3.3).
@Suite("Nonces of Digest")
struct DigestMemoryTests {
    private static func request(_ url: String = "http://h/") throws -> TransportRequest {
        var request = TransportRequest(url: try RequestURL(url))
        request.options.authentication = .digest(user: "me", password: "pw")
        return request
    }

    private static func response(
        _ status: HTTPResponse.Status, _ field: HTTPField.Name? = nil, nonce: String = "n"
    ) -> TransportResponse {
        var head = HTTPResponse(status: status)
        if let field { head.headerFields[field] = #"Digest realm="r", nonce="\#(nonce)", qop="auth""# }
        return TransportResponse(head: head, body: .init(Data()))
    }

    /// Returns the count of a nonce in a request; `nil` without credentials.
    private static func count(in request: TransportRequest, _ field: HTTPField.Name) -> String? {
        request.headerFields[field].flatMap { value in
            value.split(separator: ", ").first { $0.hasPrefix("nc=") }.map { String($0.dropFirst(3)) }
        }
    }

    /// Regression: another request used the next count of the nonce before the first one had arrived, and a server that
    /// wants increasing counts refused it.
    @Test func `a nonce serves others once its first count was accepted`() async throws {
        let nonces = DigestMemory()
        let meanwhile = Guarded<[String?]>([])
        func send(_ round: TransportRequest) async throws -> TransportResponse {
            guard let count = Self.count(in: round, .authorization) else {
                return Self.response(.unauthorized, .wwwAuthenticate)
            }
            if count == "00000001" {
                let other = try await Self.request("http://h/other").answeringChallenges(remembering: nonces) { round in
                    meanwhile.withLock { $0.append(Self.count(in: round, .authorization)) }
                    return Self.response(.ok)
                }
                #expect(other.status == .ok)
            }
            return Self.response(.ok)
        }
        #expect(try await Self.request().answeringChallenges(remembering: nonces, send).status == .ok)
        #expect(meanwhile.withLock { $0 } == [nil])
        _ = try await Self.request().answeringChallenges(remembering: nonces) { round in
            #expect(Self.count(in: round, .authorization) == "00000002")
            return Self.response(.ok)
        }
    }

    /// Regression: the proxy got the same count again, which is a replay, and the call ended with its 407.
    @Test func `a proxy counts the request that follows the server's challenge`() async throws {
        var request = try Self.request()
        var proxy = TransportOptions.Proxy.Server("http://proxy.test:1")
        (proxy.user, proxy.password, proxy.authenticationScheme) = ("user", "secret", .digest)
        request.options.proxy = .explicit(proxy)
        let seen = Guarded<[[String?]]>([])
        let response = try await request.answeringChallenges(remembering: DigestMemory()) { round in
            let counts = [Self.count(in: round, .proxyAuthorization), Self.count(in: round, .authorization)]
            seen.withLock { $0.append(counts) }
            if counts[0] == nil { return Self.response(.proxyAuthenticationRequired, .proxyAuthenticate, nonce: "p") }
            return counts[1] == nil ? Self.response(.unauthorized, .wwwAuthenticate) : Self.response(.ok)
        }
        #expect(response.status == .ok)
        #expect(seen.withLock { $0 } == [[nil, nil], ["00000001", nil], ["00000002", "00000001"]])
    }
}
