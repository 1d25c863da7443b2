import FoundationEssentials
import Synchronization

/// The transport that the environment variable ``TransportKind/variable`` selects. The variable is read once, at the
/// first use of ``shared``.
///
/// With an invalid value the program continues, but each request over this transport fails with
/// ``NetworkCore/NetworkError/Code/invalidConfiguration``. No other transport takes its place.
public struct DefaultTransport: ShutsDown, NetworkDispatcher {
    /// The transport that the process's environment selects.
    public static let shared = DefaultTransport(
        environment: ProcessInfo.processInfo.environment, rollouts: rollouts.withLock(\.self))

    /// Makes a transport of a value that asks for a shadow or a canary.
    package typealias RolloutReader = @Sendable (String) throws -> any HTTPTransport

    private static let rollouts = Guarded<RolloutReader?>(nil)

    /// Sets what ``shared`` does with a value that asks for a shadow or a canary.
    package static func readRollouts(by reader: @escaping RolloutReader) { rollouts.withLock { $0 = reader } }

    private let selection: Result<any HTTPTransport, any Error>

    init(environment: [String: String], rollouts: RolloutReader? = nil) {
        selection = Result { try Self.transport(in: environment, rollouts) }
    }

    private static func transport(
        in environment: [String: String], _ rollouts: RolloutReader?
    ) throws -> any HTTPTransport {
        guard let text = environment[TransportKind.variable] else { return TransportKind.standard.transport }
        guard text.utf8.contains(where: { ";,@=".utf8.contains($0) }) else {
            return try TransportKind(name: text, from: TransportKind.variable).transport
        }
        if let rollouts { return try rollouts(text) }
        throw NetworkError(
            .invalidConfiguration,
            // Without quotes before an '@': a redaction takes what is between them for a user and a password.
            "\(TransportKind.variable) is \(TransportKind.shown(text)); for a shadow or a canary, add the product "
                + "NetworkRollout to the target, 'import NetworkRollout', and call Rollout.enable() before the first "
                + "request; without them it must be \(TransportKind.choices)",
            phase: .preparing)
    }

    /// The selected transport. If the environment asks for a shadow or a canary, it is a
    /// ``NetworkRollout/ShadowTransport`` or a ``NetworkRollout/CanaryTransport``, whose counts a program can read.
    /// - Throws: ``NetworkCore/NetworkError/Code/invalidConfiguration`` after an invalid value.
    public var selected: any HTTPTransport { get throws { try selection.get() } }

    /// The selected transport's name, or `none` after an invalid value.
    public var name: String { (try? selection.get().name) ?? "none" }

    /// The selected transport's capabilities. After an invalid value all of them, so that no request is refused for
    /// another reason than the value.
    public var capabilities: TransportCapabilities {
        if let selected = try? selection.get().capabilities { return selected }
        return TransportCapabilities(
            transport: name, basis: "no transport was selected",
            supported: Set(TransportCapabilities.Capability.wellKnown))
    }

    /// Sends a request over the selected transport.
    /// - Throws: The error of the selection, or the transport's.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        try await selection.get().send(request)
    }

    /// Shuts the selected transport down, both of a shadow or a canary.
    public func shutDown(within patience: Duration) async {
        await (try? selection.get() as? any ShutsDown)?.shutDown(within: patience)
    }
}

extension NetworkClient {
    /// Creates a pipeline over the transport that ``NetworkLayer/TransportKind/variable`` selects.
    /// - Parameters:
    ///   - baseURL: The URL that a request's path is appended to.
    ///   - options: The options of each exchange.
    public init(baseURL: String? = nil, options: TransportOptions = TransportOptions()) {
        self.init(transport: DefaultTransport.shared, baseURL: baseURL, options: options)
    }

    /// The pipeline over the transport that ``NetworkLayer/TransportKind/variable`` selects, with default options.
    public static var shared: NetworkClient { NetworkClient() }
}
