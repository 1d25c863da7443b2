import Foundation
import NetworkLayer

/// The steps between a request and its transport: redirects with an audit, cookies, retries, a token that is renewed,
/// and a custom step. They run over the transport that NETWORK_TRANSPORT names:
///
///     Pipeline http://127.0.0.1:8080        the address of `netlayer serve`
@main
struct Pipeline {
    static func main() async {
        guard CommandLine.arguments.count == 2 else { fail("usage: Pipeline BASE-URL", status: 2) }
        let base = CommandLine.arguments[1]
        do {
            var client = NetworkClient(transport: try DefaultTransport.shared.selected)
            client.options.totalTimeout = .seconds(10)
            client.interceptors = [RequestNumber(), .retry()]
            client.exchangeInterceptors = [
                try BearerAuthentication(for: [base], token: "stale") { _ in
                    print("the token is renewed")
                    return "fresh"
                }
            ]
            client.redirectPolicy = .deciding { proposal in
                print("from \(proposal.redirect.from.path) to \(proposal.redirect.to.path)")
                return .follow(proposal.request)
            }
            let jar = CookieJar()
            client.cookieJar = jar

            let moved = try await client.send(RequestData(path: "\(base)/redirect/2"), as: .data)
            print("\(moved.status.code) after \(moved.redirects.count) redirects")

            _ = try await client.send(RequestData(path: "\(base)/cookies"), as: .data).body
            print("cookies: \(jar.cookies.map(\.name))")

            let secured = try await client.send(RequestData(path: "\(base)/bearer/fresh"), as: .data)
            print("\(secured.status.code) with the new token")

            await failing(client, "\(base)/status/503")
            print("all over \(client.transport.name)")
        } catch {
            fail("\(error)", status: 1)
        }
    }

    private static func failing(_ client: NetworkClient, _ url: String) async {
        do {
            _ = try await client.send(RequestData(path: url), as: .data).body
            fail("a 503 response counted as a success", status: 1)
        } catch {
            print(error)
        }
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(status)
    }
}

/// A custom step, which numbers the requests.
struct RequestNumber: Interceptor {
    func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        var request = request
        request.headerFields.append(try HTTPField(checking: "X-Request-Number", value: "\(call.id)"))
        return try await next(request)
    }
}
