import Foundation
import Logging
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport

/// An exchange in which a server, a token issuer, or a transport exposes the secret, with every log switched on.
struct CanaryExchange: Sendable {
    typealias Answer = AnsweringTransport.Answer

    let name: String
    /// The server's responses, one for each request; the last one repeats.
    let answers: @Sendable (CanarySecret) -> [Answer]
    /// The caller's use of the client. The test prints what it returns or throws.
    let call: @Sendable (inout NetworkClient, CanarySecret) async throws -> [Any]

    init(
        _ name: String,
        _ answers: @escaping @Sendable (CanarySecret) -> [Answer],
        _ call: @escaping @Sendable (inout NetworkClient, CanarySecret) async throws -> [Any] = { client, _ in
            [try await client.send(RequestData(path: "http://h/p"), as: [User].self)]
        }
    ) {
        self.name = name
        self.answers = answers
        self.call = call
    }

    struct User: Decodable, Sendable {
        let name: String
        let age: Int
    }

    /// Returns the resulting values and the logs.
    func run(_ secret: CanarySecret) async -> (values: [Any], log: String) {
        let log = CanaryLog()
        let answers = answers(secret)
        let next = Guarded(0)
        let transport = AnsweringTransport { _ in
            next.withLock { next in
                defer { next += 1 }
                return answers[min(next, answers.count - 1)]
            }
        }
        let met = Guarded<[TransportRequest]>([])
        var client = NetworkClient(transport: transport)
        client.interceptors = [.logging(log.logger)]
        client.exchangeInterceptors = [
            .logging(log.logger), .adapting { request in met.withLock { $0.append(request) } },
        ]
        var values: [Any]
        do { values = try await call(&client, secret) } catch { values = [error] }
        values += [client]
        for request in met.withLock({ $0 }) { values += [request, request.curlCommand()] }
        return (values, log.text)
    }

    private static func field(_ name: String, _ value: String, status: Int = 200, body: String = "[]") -> Answer {
        var fields: HTTPFields = [:]
        fields.append(HTTPField(name: .init(name)!, value: value))
        return Answer(status: status, fields: fields, body: body)
    }

    /// Names of fields in which a server sends secrets.
    private static let answeredNames = [
        "Set-Cookie", "WWW-Authenticate", "Proxy-Authenticate", "Authentication-Info", "X-Auth-Token",
        "X-Session-Token",
        "X-CSRF-Token", "X-Api-Key", "Signature", "X-Refresh-Token", "X-Amz-Security-Token",
    ]

    private static let urlNames = ["Location", "Content-Location", "Refresh", "Link"]

    /// All exchanges of the canary.
    static let all: [CanaryExchange] =
        answeredNames.map { name in
            CanaryExchange(
                "the response's field \(name)", { [field(name, $0.value), field(name, $0.value, status: 403)] })
        }
        + urlNames.flatMap { name in
            [
                CanaryExchange("the query of \(name)", { [field(name, "https://h/p?code=\($0.value)")] }),
                CanaryExchange("the fragment of \(name)", { [field(name, "/p#access_token=\($0.value)")] }),
                CanaryExchange("the password of \(name)", { [field(name, "https://u:\($0.percentEncoded)@h/p")] }),
            ]
        } + bodies + redirects + events + tokens + testing

    private static let bodies: [CanaryExchange] = [
        CanaryExchange("the body of an error", { [Answer(status: 500, body: $0.value)] }),
        CanaryExchange(
            "a problem",
            { secret in
                let body =
                    #"{"type": "about:blank", "detail": "\#(secret.percentEncoded)", "x": "\#(secret.percentEncoded)"}"#
                return [Answer(status: 422, fields: [.contentType: "application/problem+json"], body: body)]
            }
        ) { client, _ in
            do {
                return [try await client.send(RequestData(path: "http://h/"), as: .data)]
            } catch let error as NetworkError {
                return [error, error.problem as Any, error.response as Any]
            }
        },
        CanaryExchange(
            "a value that does not fit",
            { [Answer(body: #"[{"name": "\#($0.percentEncoded)", "age": "\#($0.percentEncoded)"}]"#)] }),
        CanaryExchange("a key that does not fit", { [Answer(body: #"[{"\#($0.percentEncoded)": 1}]"#)] }),
        CanaryExchange("a key of a dictionary", { [Answer(body: #"{"\#($0.percentEncoded)": "x"}"#)] }) { client, _ in
            [try await client.send(RequestData(path: "http://h/p"), as: [String: Int].self)]
        },
        CanaryExchange("a body that is not JSON", { [Answer(body: "<html>\($0.value)</html>")] }),
        CanaryExchange("a charset", { [field("Content-Type", "text/plain; charset=unknown", body: $0.value)] }) {
            client, _ in
            [try await client.send(RequestData(path: "http://h/p"), as: .text)]
        },
        CanaryExchange("a line", { [Answer(body: "\($0.value)\n\($0.value)")] }) { client, _ in
            let response = try await client.send(RequestData(path: "http://h/p"), as: .lines)
            var lines = response.body.makeAsyncIterator()
            _ = try await lines.next()
            return [response, response.body, lines]
        },
        CanaryExchange("a line of JSON", { [Answer(body: "{\"a\": \"\($0.percentEncoded)\"}\n")] }) { client, _ in
            let lines = try await client.send(RequestData(path: "http://h/p"), as: .jsonLines(of: [String: Int].self))
                .body
            for try await _ in lines {}
            return []
        },
        CanaryExchange("a body that is streamed", { [Answer(body: $0.value)] }) { client, _ in
            let response = try await client.send(RequestData(path: "http://h/p"), as: .stream)
            return [response, response.body, response.body.makeAsyncIterator()]
        },
        CanaryExchange("a body that a rule refuses", { [Answer(body: $0.value)] }) { client, _ in
            client.validation = .contentTypes("application/json")
            return [try await client.send(RequestData(path: "http://h/p"), as: .data)]
        },
    ]

    private static let redirects: [CanaryExchange] = [
        CanaryExchange(
            "a redirect that is followed",
            {
                [.redirect(to: "http://other/p?token=\($0.percentEncoded)"), Answer(status: 404)]
            }),
        CanaryExchange(
            "a redirect with a password",
            {
                [.redirect(to: "http://u:\($0.percentEncoded)@other/p"), Answer(status: 404)]
            }),
        CanaryExchange("redirects without end", { [.redirect(to: "http://h/p?token=\($0.percentEncoded)")] }),
        CanaryExchange("a redirect that is refused", { [.redirect(to: "http://h/p?token=\($0.percentEncoded)")] }) {
            client, _ in
            client.redirectPolicy = .standard
            return [try await client.send(RequestData(path: "https://h/p"), as: .data)]
        },
        CanaryExchange(
            "a redirect that is decided", { [.redirect(to: "/?token=\($0.percentEncoded)"), Answer(body: "[]")] }
        ) { client, _ in
            let proposals = Guarded<[RedirectPolicy.Proposal]>([])
            client.redirectPolicy = .deciding { proposal in
                proposals.withLock { $0.append(proposal) }
                return .follow(proposal.request)
            }
            let response = try await client.send(RequestData(path: "http://h/p"), as: .data)
            let seen = proposals.withLock { $0 }
            return [response, response.redirects] + seen + seen.map { RedirectPolicy.Decision.follow($0.request) }
        },
    ]

    private static let events: [CanaryExchange] = [
        CanaryExchange("an event's id and data", { [event("id: \($0.value)\ndata: \($0.value)\n\n")] }, listen),
        CanaryExchange(
            "an event without end", { [event("id: \($0.value)\n\ndata: \($0.value)\nevent: \($0.value)")] }, listen),
        CanaryExchange("no stream of events", { [Answer(status: 404, body: $0.value)] }, listen),
    ]

    private static func event(_ text: String) -> Answer {
        Answer(fields: [.contentType: "text/event-stream"], body: text)
    }

    private static let listen: @Sendable (inout NetworkClient, CanarySecret) async throws -> [Any] = { client, _ in
        var options = ServerSentEvents.Options()
        options.maximumFailures = 2
        options.time = TimeSource(now: { Date() }, sleep: { _ in }, random: { 0 })
        var seen: [Any] = []
        do {
            let response = try await client.send(RequestData(path: "http://h/p"), as: .events(options))
            var iterator = response.body.makeAsyncIterator()
            seen += [response, response.body]
            for _ in 0..<4 {
                guard let event = try await iterator.next() else { break }
                seen += [event, iterator]
            }
        } catch {
            seen.append(error)
        }
        return seen
    }

    /// An error of a token issuer, which is no type of the library.
    private struct IssuerFailure: Error {
        let token: String
    }

    private static let tokens: [CanaryExchange] = [
        CanaryExchange("a token", { _ in [Answer(status: 401)] }) { client, secret in
            let bearer = try BearerAuthentication(for: ["http://h"], token: TransportOptions.Secret(secret.value))
            client.exchangeInterceptors.append(bearer)
            return [try await client.send(RequestData(path: "http://h/p"), as: .data), bearer]
        },
        CanaryExchange("a refreshed token", { _ in [Answer(status: 401)] }) { client, secret in
            let bearer = try BearerAuthentication(for: ["http://h"]) { _ in TransportOptions.Secret(secret.value) }
            client.exchangeInterceptors.append(bearer)
            return [try await client.send(RequestData(path: "http://h/p"), as: .data), bearer]
        },
        CanaryExchange("an issuer's failure", { _ in [Answer(status: 401)] }) { client, secret in
            let bearer = try BearerAuthentication(for: ["http://h"]) { _ in throw IssuerFailure(token: secret.value) }
            client.exchangeInterceptors.append(bearer)
            do {
                return [try await client.send(RequestData(path: "http://h/p"), as: .data), bearer]
            } catch is IssuerFailure {
                // The issuer's own error, which reaches the caller unchanged; the logs must not show it.
                return [bearer]
            }
        },
        CanaryExchange("a failure of another transport", { _ in [] }) { client, secret in
            let failing = AnsweringTransport { _ in throw IssuerFailure(token: secret.value) }
            var other = NetworkClient(transport: failing)
            other.interceptors = client.interceptors
            other.exchangeInterceptors = client.exchangeInterceptors
            do { return [try await other.send(RequestData(path: "http://h/p"), as: .data)] } catch is IssuerFailure {
                return []
            }
        },
    ]
}
