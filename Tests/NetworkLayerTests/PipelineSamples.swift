import Foundation
import NetworkLayer

/// The samples of 'The path of a request' and 'Retries, tokens and cookies', verbatim, so that they compile.
/// `DocumentationTests` compares the two.
enum PipelineSamples {
    struct Token: Codable {
        let text: String
    }

    struct GetToken: RequestType {
        typealias ResponseType = Token
        var data: RequestData { RequestData(path: "https://login.example.com/token", method: .post) }
    }

    static func client() -> NetworkClient {
        var client = NetworkClient()
        client.options.totalTimeout = .seconds(10)
        client.interceptors.append(.retry())
        client.cookieJar = CookieJar()
        return client
    }

    struct RequestNumber: Interceptor {
        func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
            var request = request
            request.headerFields.append(try HTTPField(checking: "X-Request-Number", value: "\(call.id)"))
            return try await next(request)
        }
    }

    static func steps(_ client: inout NetworkClient) {
        client.interceptors.append(RequestNumber())

        client.interceptors.append(.adapting { request in request.headerFields[.acceptLanguage] = "de" })
        client.interceptors.append(.adaptingResponse { response in response.head.headerFields[.server] = nil })
    }

    static func redirects(_ client: inout NetworkClient) {
        client.redirectPolicy = .deciding { proposal in
            print(proposal.redirect.from, "→", proposal.redirect.to)
            let isOurs = proposal.redirect.to.host.hasSuffix(".example.com")
            return isOurs ? .follow(proposal.request) : .refuse("not one of ours")
        }

        client.secretFields = [HTTPField.Name("X-Customer")!]
    }

    static func retries(_ client: inout NetworkClient) {
        var policy = RetryInterceptor.Policy()
        policy.maximumRetries = 4
        policy.methods.insert(.post)
        policy.baseDelay = .seconds(1)
        policy.maximumDelay = .seconds(5)
        client.interceptors.append(.retry(policy, budget: RetryInterceptor.Budget(capacity: 50)))
    }

    static func tokens(_ client: inout NetworkClient) throws {
        let login = NetworkClient()
        let bearer = try BearerAuthentication(for: ["https://api.example.com"]) { _ in
            let response = try await login.send(GetToken(), as: Token.self)
            return TransportOptions.Secret(response.body.text)
        }
        client.exchangeInterceptors.append(bearer)
    }

    static func cookies(_ client: inout NetworkClient) async throws {
        let jar = try CookieJar(file: "cookies.txt")
        client.cookieJar = jar
        print(try await client.send(RequestData(path: "https://example.com/home"), as: .data).body.count)
        try jar.save(to: "cookies.txt")
    }
}
