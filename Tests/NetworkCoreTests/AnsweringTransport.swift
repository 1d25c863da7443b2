import Foundation
import NetworkCore
import Synchronization

/// A transport that responds by calling a closure, and records the requests.
final class AnsweringTransport: HTTPTransport {
    /// One response: a status, header fields, and a body.
    struct Answer {
        var status = 200
        var fields: HTTPFields = [:]
        var body = ""

        static func redirect(_ status: Int = 302, to location: String) -> Answer {
            Answer(status: status, fields: [.location: location])
        }
    }

    let name = "stub"
    var capabilities: TransportCapabilities {
        TransportCapabilities(
            transport: "stub", basis: "a test",
            supported: streamsBodies ? [.bodyOnGet, .streamedRequestBodies] : [.bodyOnGet])
    }
    private let streamsBodies: Bool
    private let asked = Guarded<[TransportRequest]>([])
    private let answer: @Sendable (TransportRequest) async throws -> Answer

    init(
        streamsBodies: Bool = true, _ answer: @escaping @Sendable (TransportRequest) async throws -> Answer
    ) {
        self.streamsBodies = streamsBodies
        self.answer = answer
    }

    /// Returns the given responses one after the other, then repeats the last one.
    convenience init(_ answers: Answer...) {
        let next = Guarded(0)
        self.init { _ in
            next.withLock { next in
                defer { next += 1 }
                return answers[min(next, answers.count - 1)]
            }
        }
    }

    var requests: [TransportRequest] { asked.withLock { $0 } }
    var lines: [String] { requests.map { "\($0.method.rawValue) \($0.url.absoluteString)" } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        try request.check(for: capabilities)
        asked.withLock { $0.append(request) }
        let answer = try await answer(request)
        return TransportResponse(
            head: HTTPResponse(status: .init(code: answer.status), headerFields: answer.fields),
            body: TransportResponse.Body(Data(answer.body.utf8)),
            metrics: TransportMetrics(total: .milliseconds(1))
        )
    }
}

extension TransportRequest {
    static func make(
        _ method: HTTPRequest.Method = .get,
        _ url: String,
        fields: HTTPFields = [:],
        body: String? = nil
    ) throws -> TransportRequest {
        TransportRequest(
            method: method, url: try RequestURL(url), headerFields: fields, body: body.map { .bytes(Data($0.utf8)) })
    }
}
