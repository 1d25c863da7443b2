import Foundation
import NetworkLayer

extension Kind {
    /// Requests with every scheme of authentication.
    static let authentications: [Kind] = [
        Kind("basic") { $1.options.authentication = .basic(user: $0.user, password: $0.password) },
        Kind("basic-post", .post) {
            $1.options.authentication = .basic(user: $0.user, password: $0.password)
            $1.body = .bytes(Data("x".utf8))
        },
        Kind("bearer") { $1.options.authentication = .bearer(token: TransportOptions.Secret($0.token)) },
        Kind("digest") { $1.options.authentication = .digest(user: $0.user, password: $0.password) },
        Kind("digest-two", at: .two) { $1.options.authentication = .digest(user: $0.user, password: $0.password) },
        Kind("digest-post", .post) {
            $1.options.authentication = .digest(user: $0.user, password: $0.password)
            $1.body = .bytes(Data("x=1".utf8))
        },
        Kind("digest-large", .post) {
            $1.options.authentication = .digest(user: $0.user, password: $0.password)
            $1.body = .bytes(Bodies.large)
        },
        Kind("digest-stream", .post) {
            $1.options.authentication = .digest(user: $0.user, password: $0.password)
            $1.body = .replayableStream { Bodies.chunks([100]) }
        },
        Kind("digest-stream-known", .put) {
            $1.options.authentication = .digest(user: $0.user, password: $0.password)
            $1.body = .replayableStream(length: 100) { Bodies.chunks([100]) }
        },
        Kind("any-safe") { $1.options.authentication = .anySafe(user: $0.user, password: $0.password) },
        Kind("any-safe-stream", .post) {
            $1.options.authentication = .anySafe(user: $0.user, password: $0.password)
            $1.body = .replayableStream { Bodies.chunks([100]) }
        },
        Kind("aws") {
            $1.options.authentication = .awsSigV4(
                .init(keyID: "key-\($0.kind)", secretKey: $0.password, region: "here", service: "s3"))
        },
        Kind("aws-post", .post) {
            $1.options.authentication = .awsSigV4(
                .init(keyID: "key-\($0.kind)", secretKey: $0.password, region: "here", service: "s3"))
            $1.body = .bytes(Data("x=1".utf8))
        },
    ]
}
