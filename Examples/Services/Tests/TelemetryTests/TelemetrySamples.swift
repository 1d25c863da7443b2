import CurlTransport
import NetworkLayer
import NetworkTelemetry
import Tracing

/// The samples of 'Traces and metrics', verbatim. `DocumentationTests` compares the two.
private func call(over dispatcher: CurlNetworkDispatcher, id: Int) async throws -> String {
    let client = NetworkClient(transport: dispatcher, baseURL: "http://127.0.0.1:8080/v1").traced().measured()

    let request = RequestData(path: "users/{id}", pathParameters: ["id": id])
    let user = try await client.send(request, as: .text).body
    return user
}

private func report(_ dispatcher: CurlNetworkDispatcher, _ client: NetworkClient) async throws {
    InstrumentationSystem.bootstrap(W3CPropagator())
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await StateMetrics(of: dispatcher, client).run() }
        try await group.waitForAll()
    }
}
