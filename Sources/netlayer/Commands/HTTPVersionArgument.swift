import ArgumentParser
import NetworkLayer

/// The value of `--http`.
enum HTTPVersionArgument: String, ExpressibleByArgument, CaseIterable {
    case http1_0 = "1.0"
    case http1_1 = "1.1"
    case http2 = "2"
    case http2PriorKnowledge = "2-prior-knowledge"
    case http3 = "3"

    var version: TransportOptions.HTTPVersion {
        switch self {
        case .http1_0: .http1_0
        case .http1_1: .http1_1
        case .http2: .http2
        case .http2PriorKnowledge: .http2PriorKnowledge
        case .http3: .http3
        }
    }
}
