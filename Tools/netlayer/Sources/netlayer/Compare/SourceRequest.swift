import Foundation
import NetworkLayer

/// A request of a comparison or a recording.
struct SourceRequest: Sendable {
    /// The method, unless it is GET, and the URL without its query.
    var name: String
    /// How often it was given.
    var weight = 1
    var request: TransportRequest
    /// The steps of the pipeline that are not the defaults.
    var steps: [String]
    /// Returns the request's client over a transport, with credentials for the origin of a URL.
    var client: @Sendable (any HTTPTransport, RequestURL) throws -> NetworkClient

    init(
        _ request: TransportRequest, steps: [String] = [],
        client: @escaping @Sendable (any HTTPTransport, RequestURL) throws -> NetworkClient
    ) {
        (self.request, self.steps, self.client) = (request, steps, client)
        name = (request.method == .get ? "" : "\(request.method.rawValue) ") + request.url.description
    }

    /// Whether the name is all that there is to tell of the request.
    var isPlain: Bool {
        var defaults = TransportOptions()
        defaults.maximumBodyBytes = request.options.maximumBodyBytes
        return request.method == .get && request.url.query == nil && request.body == nil && request.headerFields.isEmpty
            && request.options.withoutTimeouts == defaults.withoutTimeouts
    }

    /// Returns what tells different requests apart: all that is sent, the options apart from timeouts, and the steps of
    /// the pipeline.
    func fingerprint(_ more: [String] = []) -> String {
        var own = request
        (own.body, own.options) = (nil, own.options.withoutTimeouts)
        var parts = [request.url.absoluteString, own.curlCommand(secrets: .revealed)]
        parts.append("\(own.options.maximumBodyBytes) \(own.options.authentication.map { "\($0)" } ?? "")")
        parts += request.headerFields.map { "\($0.name.canonicalName): \($0.value)" }.sorted()
        if let body = request.body?.knownBytes { parts.append(SHA256Checksum.digest(body).hexadecimal) }
        return Fingerprint.of(parts + steps + more)
    }
}

extension TransportOptions {
    fileprivate var withoutTimeouts: TransportOptions {
        var own = self
        (own.totalTimeout, own.connectTimeout, own.firstByteTimeout, own.idleTimeout) = (nil, nil, nil, nil)
        return own
    }
}

/// A number that tells texts apart and keeps what is secret in them: of 24 bits, which fit as many texts as can be
/// tried.
enum Fingerprint {
    static func of(_ parts: [String]) -> String { of(Data(parts.joined(separator: "\n").utf8)) }

    static func of(_ bytes: Data) -> String { String(SHA256Checksum.digest(bytes).hexadecimal.prefix(6)) }
}
