import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NetworkCore
import NetworkTelemetry
import Synchronization
import Tracing

/// Gives each line of a request's log its number and its trace, and responds for peers that failed.
struct Outcomes: RouterMiddleware {
    func handle(
        _ request: Request, context: ShopContext, next: (Request, ShopContext) async throws -> Response
    ) async throws -> Response {
        let trace = ServiceContext.current?.traceContext?.traceID
        let metadata: Logger.Metadata = ["request.id": "\(context.id)", "trace.id": "\(trace ?? "none")"]
        return try await withLogger(mergingMetadata: metadata) { logger in
            do {
                return try await next(request, context)
            } catch let error as NetworkError where Self.status(for: error) == .notFound {
                return problem(.notFound, "there is no such product", trace: trace)
            } catch let error as NetworkError {
                let status = error.gatewayStatus
                logger.error(
                    "\(request.method.rawValue) \(request.uri.path): \(status.code), because \(error)",
                    metadata: Self.metadata(of: error))
                return problem(status, "a service that this response needs has failed", trace: trace)
            } catch is CancellationError {
                logger.info("\(request.method.rawValue) \(request.uri.path): the client has gone")
                // Nobody reads it; nginx logs this status too.
                return Response(status: .init(code: 499))
            }
        }
    }

    /// The status that a peer's refusal means for the caller: what the peer does not have is not here either.
    private static func status(for error: NetworkError) -> HTTPResponse.Status? {
        error.code == .unacceptableStatus ? error.response?.status : nil
    }

    /// A response by [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457). It tells nothing of the services behind; the
    /// trace's number leads to all that is known.
    private func problem(_ status: HTTPResponse.Status, _ title: String, trace: String?) -> Response {
        let fields = ["\"title\":\"\(title)\"", "\"status\":\(status.code)", "\"trace\":\"\(trace ?? "")\""]
        return Response(
            status: status, headers: [.contentType: "application/problem+json"],
            body: .init(byteBuffer: ByteBuffer(string: "{\(fields.joined(separator: ","))}\n")))
    }

    /// What a search looks for: the kind of error, and the request to the peer.
    static func metadata(of error: (any Error)?) -> Logger.Metadata {
        guard let error else { return [:] }
        var metadata: Logger.Metadata = [
            "error.type": "\(NetworkError.code(of: error)?.rawValue ?? "\(type(of: error))")"
        ]
        guard let error = error as? NetworkError else { return metadata }
        metadata["url.full"] = error.exchange.map { "\($0.url)" }
        metadata["http.response.status_code"] = error.response.map { "\($0.status.code)" }
        return metadata
    }
}

/// Something that happens once.
final class Flag: Sendable {
    private let state = Mutex(false)
    var isUp: Bool { state.withLock(\.self) }

    func raise() { state.withLock { $0 = true } }
}
