import Configuration
import Foundation
import NetworkConfiguration
import NetworkLayer
import NetworkTesting
import Synchronization
import Testing

/// Settings from a reader of swift-configuration.
@Suite("Settings from a reader")
struct ReaderTests {
    /// A provider whose store is out of reach.
    private struct BrokenProvider: ConfigProvider {
        struct Unreachable: Error, CustomStringConvertible { let description = "the vault is sealed" }

        let providerName = "Vault"

        func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult { throw Unreachable() }
        func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
            guard key.components.last == "password" || key.components.last == "connect" else {
                return LookupResult(encodedKey: "\(key)", value: nil)
            }
            throw Unreachable()
        }
        func watchValue<Return: ~Copyable>(
            forKey key: AbsoluteConfigKey, type: ConfigType,
            updatesHandler: (ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>) async throws -> Return
        ) async throws -> Return { throw Unreachable() }
        func snapshot() -> any ConfigSnapshot { InMemoryProvider(values: [:]).snapshot() }
        func watchSnapshot<Return: ~Copyable>(
            updatesHandler: (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
        ) async throws -> Return { throw Unreachable() }
    }

    /// Keeps what is reported, as a log would.
    private final class Log: AccessReporter {
        private let lines = Mutex<[String]>([])

        var text: String { lines.withLock { $0.joined(separator: "\n") } }

        func report(_ event: AccessEvent) { lines.withLock { $0.append("\(event.metadata.key) \(event.result)") } }
    }

    private static func environment(_ variables: [String: String]) -> EnvironmentVariablesProvider {
        EnvironmentVariablesProvider(environmentVariables: variables)
    }

    private static func withFile<Value>(
        _ json: String, _ work: (FileProvider<JSONSnapshot>) async throws -> Value
    ) async throws -> Value {
        let file = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(json.utf8).write(to: file)
        return try await work(try await FileProvider<JSONSnapshot>(filePath: .init(file.path)))
    }

    private static func message(_ reader: ConfigReader, under scope: String = "http") async -> String {
        do {
            _ = try await NetworkSettings(reader, under: scope)
            return "no error"
        } catch let error as NetworkError where error.code == .invalidConfiguration {
            return error.message
        } catch {
            return "\(error)"
        }
    }

    @Test func `an environment overrides a file, and each entry has its source`() async throws {
        let json = """
            {"shop": {"http": {
                "timeout": {"connect": "2 s", "total": 5, "firstByte": 0.5}, "decompress": false, "httpVersion": 1.1,
                "resilience": {"enabled": true, "retries": {"statuses": [502, 503], "methods": ["GET"]}},
                "secretFields": ["X-Key", "X-Token"], "curl": {"loops": 2}, "maximumBodyBytes": 1048576
            }}}
            """
        let settings = try await Self.withFile(json) { file in
            let environment = Self.environment([
                "SHOP_HTTP_TIMEOUT_CONNECT": "250ms", "SHOP_HTTP_CURL_MAXIMUM_CONNECTIONS_PER_ORIGIN": "9",
            ])
            let reader = ConfigReader(providers: [environment, file], accessReporter: SettingSources())
            return try await NetworkSettings(reader.scoped(to: "shop"), under: "http")
        }
        #expect(settings.options.connectTimeout == .milliseconds(250))
        #expect(settings.options.totalTimeout == .seconds(5) && settings.options.firstByteTimeout == .milliseconds(500))
        #expect(!settings.options.decompress && settings.options.httpVersion == .http1_1)
        #expect(settings.options.secretFields.count == 2 && settings.options.maximumBodyBytes == 1_048_576)
        #expect(settings.curl.loops == 2 && settings.curl.maximumConnectionsPerOrigin == 9)
        #expect(settings.makeResilience()?.retries.statuses == [502, 503])
        #expect(settings.makeResilience()?.retries.methods == [.get])
        let sources = Dictionary(uniqueKeysWithValues: settings.entries.map { ($0.key, $0.source) })
        #expect(sources["timeout.connect"] == "SHOP_HTTP_TIMEOUT_CONNECT (EnvironmentVariablesProvider)")
        #expect(sources["timeout.total"]?.hasPrefix("shop.http.timeout.total (") == true)
        #expect(sources["timeout.idle"] == "default")
    }

    @Test func `each wrong value is named with its whole key and its source`() async {
        let environment = Self.environment([
            "SHOP_HTTP_TIMEOUT_CONNECT": "soon", "SHOP_HTTP_CURL_LOOPS": "many", "SHOP_HTTP_DECOMPRESS": "perhaps",
        ])
        let reader = ConfigReader(provider: environment, accessReporter: SettingSources())
        let message = await Self.message(reader.scoped(to: "shop"))
        #expect(message.hasPrefix("3 settings are wrong: "), "\(message)")
        for part in [
            "shop.http.timeout.connect (from SHOP_HTTP_TIMEOUT_CONNECT (EnvironmentVariablesProvider)) is 'soon'; it must",
            "shop.http.curl.loops (from SHOP_HTTP_CURL_LOOPS (EnvironmentVariablesProvider)) is 'many'; it must be a whole",
            "shop.http.decompress (from SHOP_HTTP_DECOMPRESS (EnvironmentVariablesProvider)) is 'perhaps'; it must be",
        ] { #expect(message.contains(part), "\(part) is not in \(message)") }
        let plain = await Self.message(ConfigReader(provider: Self.environment(["HTTP_TIMEOUT_IDLE": "soon"])))
        #expect(plain.contains("http.timeout.idle (from the configuration) is 'soon'"), "\(plain)")
    }

    @Test func `a secret is one for the reader's log, the entries and the errors`() async throws {
        let log = Log()
        let environment = Self.environment([
            "HTTP_AUTHENTICATION_SCHEME": "bearer", "HTTP_AUTHENTICATION_TOKEN": "hunter2",
        ])
        let reader = ConfigReader(provider: environment, accessReporter: log)
        let settings = try await NetworkSettings(reader, under: "http")
        #expect(settings.options.authentication == .bearer(token: "hunter2"))
        #expect(log.text.contains("http.authentication.token") && !log.text.contains("hunter2"))
        #expect(!"\(settings) \(settings.entries)".contains("hunter2"))
        // A provider may know of more secrets.
        let all = EnvironmentVariablesProvider(
            environmentVariables: ["HTTP_TLS_SERVER_NAME": "a/hunter3"], secretsSpecifier: .all)
        let message = await Self.message(ConfigReader(provider: all, accessReporter: SettingSources()))
        #expect(message.contains("is a secret that can't be used") && !message.contains("hunter3"), "\(message)")
    }

    @Test func `a provider that fails is no default, and tells no secret`() async {
        let message = await Self.message(ConfigReader(provider: BrokenProvider()))
        #expect(
            message.contains("http.timeout.connect can't be read; it must be a time, or none: the vault is sealed"),
            "\(message)")
        // What a provider says of a secret may be the secret.
        #expect(message.hasSuffix("http.authentication.password can't be read; it must be a secret"), "\(message)")
        #expect(message.hasPrefix("3 settings are wrong"), "\(message)")
    }

    @Test func `a value of another type is named`() async throws {
        let message = try await Self.withFile(#"{"http": {"timeout": {"idle": ["a"]}}}"#) {
            await Self.message(ConfigReader(provider: $0))
        }
        #expect(message.contains("http.timeout.idle can't be read; it must be a time, or none: "), "\(message)")
    }

    @Test func `a client of a reader sends`() async throws {
        let server = DemoServer()
        try await server.start()
        let reader = ConfigReader(provider: Self.environment(["HTTP_BASE_URL": server.baseURL]))
        let client = try await NetworkSettings(reader, under: "http").makeClient()
        #expect(try await client.send(RequestData(path: "test"), as: .text).status == 200)
        await server.stop()
        #expect(client.transport.name == "curl")
    }
}
