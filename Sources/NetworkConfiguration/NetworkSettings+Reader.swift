#if Configuration
public import Configuration
import FoundationEssentials
import NetworkCore
import Synchronization

extension NetworkSettings {
    /// Reads settings from a reader of swift-configuration. Requires the package trait `Configuration`.
    ///
    /// ```swift
    /// let file = try await FileProvider<JSONSnapshot>(filePath: "/etc/shop.json")
    /// let config = ConfigReader(
    ///     providers: [EnvironmentVariablesProvider(), file], accessReporter: SettingSources())
    /// let settings = try await NetworkSettings(config, under: "orders")   // ORDERS_TIMEOUT_CONNECT, orders.timeout.…
    /// ```
    ///
    /// The keys that hold secrets are read as secrets. A reader can't list its keys, so one that is misspelled is not
    /// found: ``description`` shows what applies.
    /// - Parameters:
    ///   - reader: The reader. With ``SettingSources`` as its access reporter, entries and errors name the provider.
    ///   - scope: The namespace, in addition to that of a scoped reader. Default: none.
    /// - Throws: ``NetworkCore/NetworkError/Code/invalidConfiguration``, which names each wrong value with its key, and
    ///   each key whose provider failed.
    public init(_ reader: ConfigReader, under scope: String = "") async throws {
        let scoped = scope.isEmpty ? reader : reader.scoped(to: ConfigKey(scope))
        var (found, problems) = ([String: FoundValue](), [String]())
        for setting in Setting.all {
            let fullKey = scope.isEmpty ? setting.key : "\(scope).\(setting.key)"
            do {
                found[setting.key] = try await Self.value(of: setting, fullKey, in: scoped)
            } catch let wrong as WrongValue {
                problems.append("\(fullKey) \(wrong.reason)")
            }
        }
        try self.init(found, problems: problems, environment: ProcessInfo.processInfo.environment)
    }

    /// Asks for the value in each type that it may have: a provider fails when it has another one.
    private static func value(
        of setting: Setting, _ fullKey: String, in reader: ConfigReader
    ) async throws -> FoundValue? {
        let (key, isSecret) = (ConfigKey(setting.key), setting.isSecret)
        let string: () async throws -> String? = { try await reader.fetchString(forKey: key, isSecret: isSecret) }
        let integer: () async throws -> String? = {
            try await reader.fetchInt(forKey: key, isSecret: isSecret).map { "\($0)" }
        }
        let double: () async throws -> String? = {
            try await reader.fetchDouble(forKey: key, isSecret: isSecret).map { "\($0)" }
        }
        let flag: () async throws -> String? = {
            try await reader.fetchBool(forKey: key, isSecret: isSecret).map { "\($0)" }
        }
        let strings: () async throws -> String? = {
            try await reader.fetchStringArray(forKey: key, isSecret: isSecret)?.joined(separator: ",")
        }
        let integers: () async throws -> String? = {
            try await reader.fetchIntArray(forKey: key, isSecret: isSecret)?.map { "\($0)" }.joined(separator: ",")
        }
        let attempts =
            switch setting.kind {
            case .text: [string, integer, double]
            case .integer: [integer, string, double]
            case .flag: [flag, string]
            case .list: [strings, integers, string, integer]
            }
        var failure: (any Error)?
        for attempt in attempts {
            let access = SettingSources.Access()
            do {
                guard let text = try await SettingSources.$access.withValue(access, operation: attempt) else {
                    return nil
                }
                let seen = access.seen
                return FoundValue(
                    text: text, source: seen?.source ?? "the configuration", fullKey: seen?.key ?? fullKey,
                    isSecret: seen?.isSecret ?? false)
            } catch let error as CancellationError {
                throw error
            } catch {
                failure = failure ?? error
            }
        }
        // The provider's error names the key and the type; that of a secret may say more.
        let reason = isSecret ? "" : failure.map { ": \(Redaction.visible("\($0)", limit: 256))" } ?? ""
        throw WrongValue("can't be read; it must be \(setting.form)\(reason)")
    }
}

/// An access reporter by which ``NetworkSettings`` finds where each value comes from. It keeps nothing.
///
/// ```swift
/// let config = ConfigReader(provider: EnvironmentVariablesProvider(), accessReporter: SettingSources())
/// ```
///
/// Next to a reporter of your own, use a `BroadcastingAccessReporter`.
public struct SettingSources: AccessReporter {
    /// One access, seen from the task that reads.
    final class Access: Sendable {
        struct Seen: Sendable {
            let key: String
            let source: String
            let isSecret: Bool
        }

        private let last = Guarded<Seen?>(nil)
        var seen: Seen? { last.withLock(\.self) }

        func see(_ seen: Seen) { last.withLock { $0 = seen } }
    }

    @TaskLocal static var access: Access?

    /// Creates a reporter.
    public init() {}

    /// Notes which provider has the value that ``NetworkSettings`` reads.
    public func report(_ event: AccessEvent) {
        guard let access = Self.access else { return }
        for provider in event.providerResults {
            guard case .success(let lookup) = provider.result, let value = lookup.value else { continue }
            access.see(
                .init(
                    key: "\(event.metadata.key)", source: "\(lookup.encodedKey) (\(provider.providerName))",
                    isSecret: value.isSecret))
            return
        }
    }
}
#endif
