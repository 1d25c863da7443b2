import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTPTypes
import NetworkCore

/// Passes requests on to another service and its responses back. Bodies stream in both directions, at the speed of the
/// slower side, and may overlap. When the client closes its connection, the exchange is cancelled.
///
/// The file is made to be copied, with ClientWatch.swift.
struct Proxy: Sendable {
    let client: NetworkClient
    /// The service's base URL.
    let base: String
    /// The name of this proxy in `Via`.
    let name: String

    /// - Parameters:
    ///   - client: Its steps apply. Its total timeout does not: a body takes as long as it takes, and ends with the
    ///     idle timeout.
    ///   - base: The URL that paths are appended to.
    init(_ client: NetworkClient, to base: String, as name: String) {
        // Users and password of a base are the client's, and the peer's redirects are the caller's.
        self.client = client.with { $0.redirectPolicy = .none }
        (self.base, self.name) = (base, name)
    }

    /// Passes a request on.
    /// - Parameters:
    ///   - path: The path and query below the base.
    ///   - template: The name of the route in metrics.
    /// - Throws: `NetworkError`, whose `gatewayStatus` is the answer.
    func pass(_ request: Request, _ context: ShopContext, to path: String, template: String) async throws -> Response {
        let outgoing = try outgoing(request, context, to: path, template: template)
        if request.headers[.expect]?.lowercased() == "100-continue" {
            // Hummingbird leaves it out, and the client would wait for a second.
            try await context.channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)))
        }
        let client = client
        let response = try await context.whileConnected { try await client.send(outgoing, as: .stream) }
        var fields = Self.endToEnd(response.headerFields)
        fields.append(HTTPField(name: .via, value: "1.1 \(name)"))
        let (body, logger) = (response.body, Logger.current)
        return Response(
            status: response.status, headers: fields,
            body: ResponseBody { writer in
                let reader = BodyReader(body)
                do {
                    while let chunk = try await context.whileConnected({ try await reader.next() }) {
                        try await writer.write(ByteBuffer(bytes: chunk))
                    }
                } catch {
                    // The head is out. Hummingbird closes the connection, which tells the client that the rest lacks.
                    logger.warning("a body was cut off: \(error)", metadata: Self.metadata(of: error))
                    throw error
                }
                try await writer.finish(body.trailers.flatMap { $0.isEmpty ? nil : $0 })
            })
    }

    private func outgoing(
        _ request: Request, _ context: ShopContext, to path: String, template: String
    ) throws -> TransportRequest {
        var fields = Self.endToEnd(request.headers)
        // This hop's server and client do that between themselves.
        fields[.expect] = nil
        fields.append(HTTPField(name: .via, value: "1.1 \(name)"))
        if let address = context.channel.remoteAddress?.ipAddress {
            let node = address.contains(":") ? "\"[\(address)]\"" : address
            fields.append(HTTPField(name: HTTPField.Name("Forwarded")!, value: "for=\(node);proto=http"))
        }
        let length = request.headers[.contentLength].flatMap { Int($0) }
        fields[.contentLength] = nil
        let hasBody = request.headers[.transferEncoding] != nil || (length ?? 0) > 0
        var outgoing = TransportRequest(
            method: request.method, url: try RequestURL(base: base, path: path), headerFields: fields,
            body: hasBody ? .stream(request.body.map { Data(buffer: $0) }, length: length) : nil,
            options: client.options)
        outgoing.template = template
        outgoing.options.totalTimeout = nil
        // Or the body would be another one than Content-Encoding and Content-Length say.
        outgoing.options.decompress = false
        return outgoing
    }

    /// The fields that are not only for one hop
    /// ([RFC 9110 §7.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1)).
    static func endToEnd(_ fields: HTTPFields) -> HTTPFields {
        let named = fields[values: .connection].flatMap { $0.split(separator: ",") }
            .compactMap { HTTPField.Name($0.trimmingCharacters(in: .whitespaces)) }
        let ofThisHop = hopByHop.union(named)
        return HTTPFields(fields.filter { !ofThisHop.contains($0.name) })
    }

    private static let hopByHop: Set<HTTPField.Name> = Set(
        [
            "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "TE",
            "Trailer", "Transfer-Encoding", "Upgrade",
        ].compactMap { HTTPField.Name($0) })

    private static func metadata(of error: any Error) -> Logger.Metadata {
        ["error.type": "\(NetworkError.code(of: error)?.rawValue ?? "\(type(of: error))")"]
    }
}

/// Reads a body chunk by chunk, from any task.
private actor BodyReader {
    private var iterator: TransportResponse.Body.AsyncIterator

    init(_ body: TransportResponse.Body) { iterator = body.makeAsyncIterator() }

    func next() async throws -> Data? {
        var reading = iterator
        defer { iterator = reading }
        return try await reading.next(isolation: self)
    }
}

extension Data {
    fileprivate init(buffer: ByteBuffer) { self.init(buffer.readableBytesView) }
}
