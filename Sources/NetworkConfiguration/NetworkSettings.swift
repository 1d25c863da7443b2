public import CurlTransport
import FoundationEssentials
public import HTTPTypes
public import NetworkCore
import NetworkLayer
public import NetworkResilience

/// A client, its transport and its steps, as a configuration gives them.
///
/// ```swift
/// let settings = try await NetworkSettings(config, under: "orders")
/// let client = try settings.makeClient()
/// logger.info("\(settings)")
/// ```
///
/// The article <doc:Configuration> has a table of the keys. Without any key, the client is that of the defaults over a
/// `CurlNetworkDispatcher` of its own. Whatever is wrong is found when the settings are read, all of it at once.
public struct NetworkSettings: Sendable, CustomStringConvertible {
    /// The choice of a transport.
    @nonexhaustive
    public enum Transport: String, Sendable, Hashable, CaseIterable {
        /// What ``NetworkLayer/TransportKind/variable`` selects: curl, unless the variable says something else.
        case standard
        /// curl, whatever the variable says.
        case curl
        /// URLSession, whatever the variable says.
        case urlsession
    }

    /// One key, with the value that applies and where it comes from.
    public struct Entry: Sendable, Hashable {
        /// The key, such as `timeout.connect`, without a namespace.
        public let key: String
        /// The value as text; that of a secret is `<secret>`, and a URL is without its password.
        public let value: String
        /// Where the value comes from: `default`, or such as `ORDERS_TIMEOUT_CONNECT (EnvironmentVariablesProvider)`.
        public let source: String
        /// Whether the key was not given.
        public let isDefault: Bool
    }

    /// The URL that a request's path is appended to.
    public var baseURL: String?
    /// Header fields for each request: `User-Agent`, if it was given.
    public var headerFields: HTTPFields = [:]
    /// The options of each exchange.
    public var options: TransportOptions
    /// The redirects that are followed.
    public var redirectPolicy: RedirectPolicy
    /// The choice of a transport. A named one wins over the environment variable.
    public var transport: Transport
    /// The limits of the curl transport.
    public var curl: CurlNetworkDispatcher.Configuration
    /// All keys in the order of the table.
    public private(set) var entries: [Entry] = []
    private let steps: ResilienceValues?
    private let mayAddTotalTimeout: Bool
    let environment: [String: String]

    /// The keys, in the order of the table.
    public static var keys: [String] { Setting.all.map(\.key) }

    /// Reads settings from texts by key, for any other source: a file, a dictionary.
    /// - Parameters:
    ///   - values: Texts by key; the items of a list are separated by commas.
    ///   - source: Where the values come from, for ``entries`` and errors.
    /// - Throws: ``NetworkCore/NetworkError/Code/invalidConfiguration``, which names each wrong value and each unknown
    ///   key.
    public init(values: [String: String], from source: String = "values") throws {
        try self.init(values: values, from: source, environment: ProcessInfo.processInfo.environment)
    }

    init(values: [String: String], from source: String, environment: [String: String]) throws {
        let known = Set(Self.keys)
        let unknown = values.keys.filter { !known.contains($0) }.sorted().map { key in
            let group = key.prefix { $0 != "." }
            let near = Self.keys.filter { $0.hasPrefix(group) }
            return "\(Redaction.visible(key, limit: 128)) is not a key"
                + (near.isEmpty ? "" : "; those of '\(group)' are \(near.joined(separator: ", "))")
        }
        try self.init(
            values.mapValues { FoundValue(text: $0, source: source) }, problems: unknown, environment: environment)
    }

    /// - Parameter problems: What is wrong already.
    init(_ found: [String: FoundValue], problems: [String], environment: [String: String]) throws {
        var (draft, problems, wrongKeys) = (SettingsDraft(), problems, Set<String>())
        for setting in Setting.all {
            guard let value = found[setting.key] else {
                entries.append(
                    Entry(key: setting.key, value: setting.standard, source: "default", isDefault: true))
                continue
            }
            entries.append(
                Entry(
                    key: setting.key, value: value.shown(of: setting), source: value.source, isDefault: false))
            do {
                if value.text.isEmpty { throw WrongValue("is empty; without the key, the default applies") }
                try setting.apply(&draft, value.text)
            } catch let wrong as WrongValue {
                problems.append(value.problem(wrong.reason, with: setting))
                wrongKeys.insert(setting.key)
            }
        }
        for setting in Setting.all {
            guard let needed = setting.needs, let value = found[setting.key], !draft.isOn(needed),
                wrongKeys.isDisjoint(with: [needed, setting.key])
            else { continue }
            let state = found[needed].map { "is '\(Redaction.visible($0.text, limit: 64))'" } ?? "is not set"
            problems.append("\(value.name(of: setting)) has no effect: \(needed) \(state)")
        }
        problems += draft.finish().map { "\($0.key) \($0.reason)" }

        (baseURL, transport, curl, options) = (draft.baseURL, draft.transport, draft.curl, draft.options)
        headerFields[.userAgent] = draft.userAgent
        redirectPolicy = draft.followsRedirects ? .standard : .none
        redirectPolicy.maximumRedirects = draft.maximumRedirects
        steps = draft.isResilient ? draft.steps : nil
        mayAddTotalTimeout = !draft.hasTotalTimeout
        self.environment = environment

        if problems.isEmpty { problems += refusals }
        guard problems.isEmpty else { throw Self.error(problems) }
    }

    /// What the transport would refuse.
    private var refusals: [String] {
        do {
            let kind = try kind
            var request = TransportRequest(url: try RequestURL(baseURL ?? "http://localhost/"))
            request.options = options
            try request.check(for: kind.transport.capabilities)
            return []
        } catch {
            return [(error as? NetworkError)?.message ?? "\(error)"]
        }
    }

    private static func error(_ problems: [String]) -> NetworkError {
        let count = problems.count == 1 ? "a setting is wrong" : "\(problems.count) settings are wrong"
        return NetworkError(
            .invalidConfiguration, "\(count): \(problems.joined(separator: "; "))", phase: .preparing)
    }

    /// The transport's kind; that of a rollout is the first one that it names.
    var kind: TransportKind {
        get throws {
            switch transport {
            case .curl: return .curl
            case .urlsession: return .urlsession
            case .standard:
                guard let text = environment[TransportKind.variable] else { return .curl }
                if isRollout {
                    let first = text.split { ";,@= ".contains($0) }.first
                    return first.flatMap { TransportKind(rawValue: String($0)) } ?? .curl
                }
                return try TransportKind(name: text, from: TransportKind.variable)
            }
        }
    }

    /// Whether the environment asks for a shadow or a canary, which takes the process's shared transports.
    var isRollout: Bool {
        transport == .standard
            && environment[TransportKind.variable].map { $0.utf8.contains { ";,@=".utf8.contains($0) } } ?? false
    }

    /// Makes the transport. Each call makes another curl dispatcher, with its own thread and connections; URLSession
    /// and a shadow or canary that the environment asks for are those of the process, and ``curl`` does not apply to
    /// them.
    /// - Throws: ``NetworkCore/NetworkError/Code/invalidConfiguration`` for a wrong value of
    ///   ``NetworkLayer/TransportKind/variable``.
    public func makeTransport() throws -> any HTTPTransport {
        if isRollout { return try DefaultTransport.shared.selected }
        switch try kind {
        case .curl: return CurlNetworkDispatcher(configuration: curl)
        case .urlsession: return URLSessionNetworkDispatcher.shared
        }
    }

    /// Makes the client, once: its copies share one state of the steps, and another client has its own.
    /// - Parameter transport: Its transport. Default: one of its own (``makeTransport()``).
    /// - Throws: ``NetworkCore/NetworkError/Code/invalidConfiguration`` for a wrong value of
    ///   ``NetworkLayer/TransportKind/variable``.
    public func makeClient(over transport: (any HTTPTransport)? = nil) throws -> NetworkClient {
        var client = NetworkClient(transport: try transport ?? makeTransport(), baseURL: baseURL, options: options)
        client.headerFields = headerFields
        client.redirectPolicy = redirectPolicy
        return makeResilience().map { client.resilient($0) } ?? client
    }

    /// Makes the steps with states of their own, to change them before they are added; `nil` if they are off.
    public func makeResilience() -> Resilience? { steps?.steps(mayAddTotalTimeout: mayAddTotalTimeout) }

    /// The transport in words, and why it is this one.
    public var transportReason: String {
        let (variable, value) = (TransportKind.variable, environment[TransportKind.variable])
        let environment =
            value.map { "\(variable) is '\(Redaction.visible($0, limit: 64))'" } ?? "\(variable) is not set"
        switch transport {
        case .standard:
            guard let kind = try? kind, !isRollout else { return "standard: \(environment)" }
            return "\(kind.rawValue): \(environment)"
        default:
            return "\(transport.rawValue): by its key" + (value == nil ? "" : ", although \(environment)")
        }
    }

    /// The transport with its reason, and each key that was given, with its value and source, one a line.
    public var description: String {
        let given = entries.filter { !$0.isDefault }.map { "\($0.key) = \($0.value), from \($0.source)" }
        return (["transport \(transportReason)"] + given).joined(separator: "\n")
    }
}

extension Setting {
    /// All settings, in the order of the table.
    static let all = client + connection + security + resilience
}

/// A value as it was found.
struct FoundValue: Sendable {
    var text: String
    var source: String
    /// The key with its namespace, if it is known.
    var fullKey: String?
    /// Whether the provider says that it is a secret.
    var isSecret = false

    func name(of setting: Setting) -> String {
        "\(fullKey ?? setting.key) (from \(source))"
    }

    func problem(_ reason: String, with setting: Setting) -> String {
        "\(name(of: setting)) is \(isHidden(setting) ? "a secret that" : "'\(shown(of: setting))'; it") \(reason)"
    }

    func shown(of setting: Setting) -> String {
        if isHidden(setting) { return "<secret>" }
        // A URL may have a password without a scheme before it: `user:password@proxy:3128`.
        let isURL = text.contains("://") || setting.key.lowercased().hasSuffix("url")
        return Redaction.visible(isURL ? Redaction().url(text) : text, limit: 128)
    }

    private func isHidden(_ setting: Setting) -> Bool { isSecret || setting.isSecret }
}
