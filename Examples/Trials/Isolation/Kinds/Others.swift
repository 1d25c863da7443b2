import Foundation
import Logging
import NetworkLayer
import TrialSupport

extension Kind {
    /// Requests with limits, with observers, or through the pipeline.
    static let others: [Kind] = [
        Kind("wire-log") { place, request in
            request.options.wireLog = WireLog(Logger(label: place.kind) { _ in QuietLog() })
        },
        Kind("wire-log-post", .post) { place, request in
            request.options.wireLog = WireLog(Logger(label: place.kind) { _ in QuietLog() })
            request.body = .replayableStream { Bodies.chunks([100]) }
        },
        Kind("progress") { $1.options.progress = { _ in } },
        Kind("small-limit") { $1.options.maximumBodyBytes = 8 },
        Kind("first-byte-timeout") { $1.options.firstByteTimeout = .seconds(20) },
        Kind("no-timeouts") {
            $1.options.connectTimeout = nil
            $1.options.idleTimeout = nil
        },
        Kind("total-timeout") { $1.options.totalTimeout = .seconds(20) },
        Kind("pipeline", pipeline: { _ in }),
        Kind(
            "pipeline-cookies", pipeline: { $0.cookieJar = CookieJar() },
            change: { $1.headerFields[.cookie] = "own=cookie-of-\($0.kind);" }),
        Kind("pipeline-post", .post, pipeline: { _ in }, change: { $1.body = .bytes(Data("x".utf8)) }),
        Kind(
            "pipeline-basic", pipeline: { _ in },
            change: { $1.options.authentication = .basic(user: $0.user, password: $0.password) }),
        Kind(
            "pipeline-digest", pipeline: { _ in },
            change: { $1.options.authentication = .digest(user: $0.user, password: $0.password) }),
        Kind("pipeline-stays", pipeline: { $0.redirectPolicy = .none }),
        Kind(
            "pipeline-retry",
            pipeline: { client in
                var policy = RetryInterceptor.Policy()
                policy.baseDelay = .milliseconds(1)
                client.interceptors = [RetryInterceptor(policy)]
            }),
    ]
}
