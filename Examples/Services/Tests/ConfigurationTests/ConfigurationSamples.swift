import Configuration
import Logging
import NetworkConfiguration
import NetworkLayer

/// The sample of 'Configuration', verbatim. `DocumentationTests` compares the two.
private func configured(logger: Logger) async throws -> NetworkClient {
    let config = ConfigReader(
        providers: [EnvironmentVariablesProvider(), try await FileProvider<JSONSnapshot>(filePath: "/etc/shop.json")],
        accessReporter: SettingSources())
    let settings = try await NetworkSettings(config, under: "orders")
    logger.info("\(settings)")
    let client = try settings.makeClient()
    return client
}
