import Foundation
import FoundationNetworking
import NetworkLayer
import NetworkTesting

/// Failures that must be distinguishable, and a setting that must have an effect.
extension URLSessionFaults {
    static let errors: [FaultRow] = [
        FaultRow(
            "truncated",
            "a body that ends before its length",
            .truncated,
            isRight: { ["error truncatedBody", "error -1005"].contains($0.said) }
        ),
        FaultRow(
            "no-tls",
            "https to a server without TLS",
            [.send("HTTP/1.1 400 Bad Request\r\n\r\n"), .close],
            isRight: { ["error tlsFailed", "error -1200"].contains($0.said) },
            probe: { try await $0.send(Ask(url: "https://127.0.0.1:\($0.ports[0])/")).text }
        ),
        FaultRow(
            "proxy",
            "a proxy in the configuration",
            servers: { [try ScriptedServer(.ok("direct")), try ScriptedServer(.ok("by proxy"))] },
            isRight: { $0.said == "200 'by proxy'" }
        ) { probe in
            guard probe.subject == .raw else {
                let request = try probe.request(Ask()) { options in
                    options.proxy = .explicit(TransportOptions.Proxy.Server("http://127.0.0.1:\(probe.ports[1])"))
                }
                do {
                    let response = try await probe.dispatcher.send(request)
                    return "200 '\(String(decoding: try await response.body.collect(), as: UTF8.self))'"
                } catch let error as NetworkError {
                    return "error \(error.code.rawValue)"
                }
            }
            let configuration = URLSessionConfiguration.default
            configuration.connectionProxyDictionary = [
                "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": probe.ports[1],
            ]
            guard let request = RawClient.request(Ask(), to: probe.url) else { return "no URL" }
            return await RawClient.send(request, over: URLSession(configuration: configuration)).text
        },
    ]
}
