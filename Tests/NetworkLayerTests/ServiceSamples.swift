import Foundation
import Logging
import NetworkLayer

/// The samples of the articles on clients, TLS, limits, services and libcurl, word for word, so that they compile.
/// `DocumentationTests` compares the two.
enum ServiceSamples {
    struct Account: Codable {
        let id: Int
    }

    static func base() async throws {
        var client = NetworkClient(baseURL: "https://api.example.com/v2")
        client.headerFields[.userAgent] = "billing/4.1"
        client.options.totalTimeout = .seconds(10)
        client.options.connectTimeout = .seconds(2)

        let account = try await client.send(RequestData(path: "accounts/7"), as: Account.self).body

        let status = try await client.send(RequestData(url: "https://status.example.com/api"), as: .text).body

        let report = try await client.with { $0.options.totalTimeout = .seconds(120) }
            .send(RequestData(path: "reports/2026", method: .post), as: .data).body
        print(account, status, report)
    }

    static func dispatcher() {
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.maximumConnectionsPerOrigin = 8
        let crawler = NetworkClient(transport: CurlNetworkDispatcher(configuration: configuration))
        print(crawler)
    }

    static func secure() async throws {
        var client = NetworkClient(transport: CurlNetworkDispatcher.shared, baseURL: "https://ledger.internal")
        client.options.tls.authorities = .file("/etc/ssl/private-ca.pem")

        client.options.tls.clientCertificate = .init(
            .file("/run/secrets/client.pem"), key: .file("/run/secrets/client.key"), password: "of the key")

        client.options.tls.pinnedPublicKeys = ["sha256//YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE="]

        var byAddress = try TransportRequest(url: RequestURL("https://10.1.2.3/health"))
        byAddress.options.tls.serverName = "ledger.internal"

        client.options.names.addresses = [.init("ledger.internal", port: 443, ["10.1.2.3"])]

        let response = try await client.send(RequestData(path: "health"), as: .text)
        print(response.metrics.tlsVersion ?? "no TLS", response.metrics.tlsCipher ?? "")
    }

    static func rotating(_ client: NetworkClient, _ logger: Logger) async throws {
        let files = RotatingTLS.Files(authorities: "/tls/ca.crt", certificate: "/tls/tls.crt", key: "/tls/tls.key")
        let tls = try RotatingTLS(files, logger: logger)
        let ledger = client.rotating(tls)

        await withTaskGroup(of: Void.self) { group in
            group.addTask { await tls.run() }
            _ = try? await ledger.send(RequestData(path: "health"), as: .text)
        }
    }

    static func limits() {
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.maximumConnectionsPerOrigin = 32
        configuration.maximumQueued = 10_000
        let client = NetworkClient(transport: CurlNetworkDispatcher(configuration: configuration))
        print(client)
    }

    static func fiveHundred(_ client: NetworkClient, base: String) async throws -> [Int: Data] {
        let bodies = try await withThrowingTaskGroup(of: (Int, Data).self) { group in
            var bodies: [Int: Data] = [:]
            for id in 1...500 {
                if id > 20, let (done, body) = try await group.next() { bodies[done] = body }
                group.addTask { (id, try await client.send(RequestData(url: "\(base)/items/\(id)"), as: .data).body) }
            }
            for try await (done, body) in group { bodies[done] = body }
            return bodies
        }
        return bodies
    }

    struct Service {
        var client: NetworkClient
        let dispatcher: CurlNetworkDispatcher

        mutating func logs() {
            client.interceptors.insert(.logging(), at: 0)
        }

        func handle(_ id: String) async throws -> Account {
            let request = RequestData(path: "accounts/{id}", pathParameters: ["id": id])
            return try await withLogger(mergingMetadata: ["account": "\(id)"]) { _ in
                try await client.send(request, as: Account.self).body
            }
        }

        func traced(_ trace: String) -> NetworkClient {
            let traced = client.with { client in
                client.interceptors.append(
                    .adapting { $0.headerFields.append(try HTTPField(checking: "X-Trace", value: trace)) })
            }
            return traced
        }

        func threeLogs(logger: Logger) -> NetworkClient {
            var logged = NetworkClient(transport: dispatcher)
            logged.interceptors.insert(.logging(logger), at: 0)
            logged.exchangeInterceptors.append(.logging(logger, level: .debug, failureLevel: .debug))
            logged.options.wireLog = WireLog(logger)
            return logged
        }

        mutating func robust() {
            client.options.totalTimeout = .seconds(5)
            client.interceptors.append(.retry())

            client.options.addressPolicy = .noPrivateRanges
        }

        func proxy<Upload: AsyncSequence & Sendable>(
            _ upload: Upload
        ) async throws -> NetworkResponse<TransportResponse.Body>
        where Upload.Element == Data {
            var request = try TransportRequest(method: .put, to: "https://store.internal/objects/7")
            request.body = .stream(upload)
            // Or the body would be another one than Content-Encoding and Content-Length say.
            request.options.decompress = false
            return try await client.send(request, as: .stream)
        }

        func end() async {
            await dispatcher.shutDown(within: .seconds(30))
        }
    }

    static func http3() throws {
        var request = try TransportRequest(url: RequestURL("https://example.com/"))
        request.options.httpVersion = .http3
        print(request)
    }

    static func upgradingDispatcher() -> CurlNetworkDispatcher {
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.upgradesToHTTP3 = true
        let dispatcher = CurlNetworkDispatcher(configuration: configuration)
        return dispatcher
    }
}
