import Foundation
import NetworkLayer

/// One request of a caller: sends it, reads its response and records the outcome.
struct Attempt: Sendable {
    let step: Step
    let request: TransportRequest
    let dispatcher: CurlNetworkDispatcher

    func run() async -> Observation {
        var observation = Observation()
        let start = ContinuousClock.now
        do {
            if let pipeline = step.kind.pipeline {
                var client = NetworkClient(transport: dispatcher, options: request.options)
                client.validation = .any
                pipeline(&client)
                let response = try await client.send(request, as: .stream)
                observation.result = ["attempts \(response.attempts), redirects \(response.redirects.count)"]
                try await read(response.body, response.head, into: &observation)
            } else {
                let response = try await dispatcher.send(request)
                let head = response.head
                // The body is dropped only if the response itself is released too.
                try await read(response.body, head, into: &observation) { response.metrics }
            }
        } catch let error as NetworkError {
            observation.result.append(Self.text(of: error))
        } catch is CancellationError {
            observation.result.append(Self.text(of: NetworkError.cancelled))
        } catch {
            observation.result.append("error \(type(of: error)): \(error)")
        }
        observation.seconds = (ContinuousClock.now - start) / .seconds(1)
        return observation
    }

    private func read(
        _ body: TransportResponse.Body, _ head: HTTPResponse, into observation: inout Observation,
        metrics: (() -> TransportMetrics)? = nil
    ) async throws {
        observation.result.append("status \(head.status.code)")
        observation.result += head.headerFields.map { "\($0.name.rawName): \($0.value)" }
        switch step.outcome.act {
        case .dropBody: return
        case .cancelBody:
            var chunks = body.makeAsyncIterator()
            _ = try await chunks.next()
            withUnsafeCurrentTask { $0?.cancel() }
            while try await chunks.next() != nil {}
        default:
            let bytes = try await body.collect(upTo: request.options.maximumBodyBytes)
            var digest = BodyDigest()
            digest.add(bytes)
            observation.body = String(decoding: bytes.prefix(200), as: UTF8.self)
            observation.result.append("body \(digest.text): \(observation.body.prefix(100))")
            for field in body.trailers ?? [:] { observation.result.append("trailer \(field.name): \(field.value)") }
            // The metrics of a pipeline are those at the time when it returned the head.
            if let metrics { note(metrics(), in: &observation) }
        }
    }

    private func note(_ metrics: TransportMetrics, in observation: inout Observation) {
        observation.isReused = metrics.connectionReused
        func number(_ value: Int?) -> String { value.map { "\($0)" } ?? "none" }
        observation.metrics = [
            "resends \(number(metrics.resends))",
            "version \(metrics.httpVersion ?? "none")",
            "TLS \(metrics.tlsVersion ?? "none") \(metrics.tlsCipher ?? "none")",
            isChunked ? "sent in chunks" : "bytes sent \(number(metrics.requestBodyBytes))",
            "bytes on the wire \(number(metrics.responseWireBytes)), of the body \(number(metrics.responseBodyBytes))",
            "reuse is \(metrics.connectionReused == nil ? "unknown" : "known")",
        ]
    }

    private var isChunked: Bool {
        guard let body = request.body else { return false }
        return body.length == nil || request.options.requestCompression != .none
    }

    /// Returns the parts of an error without its message, which may contain changing numbers.
    static func text(of error: NetworkError) -> String {
        let below = error.underlying.map { "\($0.domain) \($0.code)" } ?? "nothing below"
        return "error \(error.code.rawValue), \(error.phase?.rawValue ?? "no phase"), \(below), "
            + "attempts \(error.exchange?.attempts ?? 0)"
    }
}
