import NetworkTesting

/// The demo server that the whole suite shares; it ends with the process.
enum Demo {
    private static let server = Task {
        let server = DemoServer()
        try await server.start()
        return server
    }

    static func url(_ path: String) async throws -> String { try await server.value.baseURL + path }
}
