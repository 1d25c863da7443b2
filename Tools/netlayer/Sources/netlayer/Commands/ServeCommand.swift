import ArgumentParser
import JSONText
import NetworkCore
import NetworkTesting

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the demo server until SIGINT or SIGTERM.",
        discussion:
            "It prints its URL and its routes when it listens. It has no access control: keep it on loopback."
    )

    @Option(help: .init("The port to listen on; 0 takes a free port.", valueName: "number")) var port: UInt16 = 8080

    @Option(help: .init("The IPv4 address to listen on.", valueName: "address")) var host = "127.0.0.1"

    func validate() throws {
        try refuse(
            if: AddressPolicy.Address(host)?.bytes.count != 4, "--host takes an IPv4 address; it is '\(host.shown)'")
    }

    func run() async throws {
        let server = DemoServer(port: port, host: host)
        do {
            try await server.start()
        } catch {
            throw ToolFailure(.refusedByResult, "the server can't start on \(host):\(port): \(error)")
        }
        do {
            try await OutputWriter.standardOutput.writeLine(Self.lines(server.baseURL).joined(separator: "\n"))
        } catch {
            await server.stop()
            throw error
        }
        await withTaskCancellationHandler {
            await server.waitUntilStopped()
        } onCancel: {
            Task { await server.stop() }
        }
        guard Task.isCancelled else {
            throw ToolFailure(.refusedByResult, "the server ended because its socket failed")
        }
    }

    private static func lines(_ baseURL: String) -> [String] {
        var table = Table([("method", .left), ("path", .left), ("response", .left)])
        for route in DemoServer.routes {
            let methods = route.methods.isEmpty ? "any" : route.methods.joined(separator: ", ")
            table.add([methods, route.path, route.summary])
        }
        return [baseURL, ""] + table.lines
    }
}
