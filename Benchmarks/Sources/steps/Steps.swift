import Bench
import CurlBench
import InMemoryTracing
import Logging
import MetricsTestKit
import NetworkCore
import NetworkResilience
import NetworkTelemetry

/// The contender that uses the pipeline with the steps of a service: spans, metrics, resilience, logs. The backends
/// keep what they get in memory.
struct Steps: Contender {
    private let client: NetworkClient
    private let request: RequestData

    init(_ arguments: Arguments) throws {
        var client = try NetworkClient.benchmark(arguments)
        for step in arguments.steps {
            switch step {
            case "traced": client = client.traced(by: InMemoryTracer())
            case "measured": client = client.measured(by: TestMetrics())
            case "resilient": client = client.resilient()
            case "logged":
                client.interceptors.insert(.logging(Logger(label: "") { _ in SwiftLogNoOpLogHandler() }), at: 0)
            default: throw CanNot()
            }
        }
        self.client = client
        request = RequestData(path: arguments.url)
    }

    func get() async throws -> Int { try await client.send(request, as: .data).body.count }
}

@main
enum Program {
    static func main() async { await Run.main(Steps.self) }
}
