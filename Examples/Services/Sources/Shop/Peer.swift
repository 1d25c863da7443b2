import Configuration
import CurlTransport
import Logging
import NetworkConfiguration
import NetworkCore
import NetworkResilience
import NetworkTelemetry

/// A service that the shop calls: its client, made once, and what its steps say of it.
struct Peer: Sendable {
    let name: String
    let baseURL: String
    let client: NetworkClient

    /// - Throws: `invalidConfiguration`, which names each wrong value with its key and its source.
    init(_ name: String, _ config: ConfigReader, over transport: CurlNetworkDispatcher, logger: Logger) async throws {
        let settings = try await NetworkSettings(config, under: name)
        logger.info("settings of \(name): \(settings)", metadata: ["peer": "\(name)"])
        guard let baseURL = settings.baseURL else {
            throw NetworkError(.invalidConfiguration, "\(name).baseURL is missing")
        }
        (self.name, self.baseURL) = (name, baseURL)
        client = try settings.makeClient(over: transport).with { client in
            // Within the spans, so that each line has its trace; around the retries, so that a call has one line.
            client.interceptors.insert(.logging(), at: 0)
            client.exchangeInterceptors.append(.logging(level: .debug, failureLevel: .info))
        }.measured().traced()
    }

    /// The states of the breaker and of the limit, in words.
    var states: [String] {
        client.interceptors.flatMap { step -> [String] in
            switch step {
            case let breaker as CircuitBreaker:
                return breaker.states.sorted { $0.key < $1.key }.map { "\(name) breaker \($0.key) \($0.value)" }
            case let limit as ConcurrencyLimit:
                return limit.states.sorted { $0.key < $1.key }.map { origin, state in
                    "\(name) limit \(origin) \(state.limit) of \(state.maximum), running \(state.running), "
                        + "waiting \(state.waiting)"
                }
            default: return []
            }
        }
    }
}
