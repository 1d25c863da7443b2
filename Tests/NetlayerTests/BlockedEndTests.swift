import Foundation
import NetworkTesting
import Testing

@testable import netlayer

/// A file or a pipe that stands still holds no end back.
@Suite("The program ends while a file or a pipe blocks it", .timeLimit(.minutes(2)))
struct BlockedEndTests {
    enum Block: String, CaseIterable, Sendable {
        case run, dataFile, bearerFile, cookieJar, output, standardOutput

        var takesTimeout: Bool { self != .run }

        func arguments(_ url: String, _ pipe: String) -> [String] {
            switch self {
            case .run: ["run", pipe]
            case .dataFile: ["fetch", url, "--data-file", pipe]
            case .bearerFile: ["fetch", url, "--bearer-file", pipe]
            case .cookieJar: ["fetch", url, "--cookie-jar", pipe]
            case .output: ["fetch", url, "-o", pipe]
            case .standardOutput: ["fetch", url]
            }
        }

        /// Returns when the program waits, or is about to; what it returns has to be kept until then.
        func waits(_ tool: RunningTool, _ pipe: NamedPipe) async throws -> FileHandle {
            switch self {
            case .run, .dataFile, .bearerFile, .cookieJar: return try await pipe.open(O_WRONLY)
            case .output: return try await pipe.open(O_RDONLY)
            case .standardOutput:
                try await tool.readFirstByte()
                return tool.output
            }
        }
    }

    private func server() throws -> ScriptedServer { try ScriptedServer(.ok(String(repeating: "x", count: 4 << 20))) }

    @Test("By a signal, with its status", arguments: Block.allCases, [SIGINT, SIGTERM, SIGHUP])
    func signals(block: Block, number: Int32) async throws {
        let folder = try TestFolder()
        defer { folder.remove() }
        let server = try server()
        defer { server.stop() }
        let pipe = try NamedPipe(in: folder)
        let tool = try RunningTool(block.arguments(server.url(), pipe.path))
        let held = try await block.waits(tool, pipe)
        tool.send(number)
        #expect(await tool.status == 128 + number)
        try held.close()
    }

    /// Nothing opens the other end.
    @Test("By --timeout, with status 5", arguments: Block.allCases.filter(\.takesTimeout))
    func timeout(block: Block) async throws {
        let folder = try TestFolder()
        defer { folder.remove() }
        let server = try server()
        defer { server.stop() }
        let pipe = try NamedPipe(in: folder)
        let tool = try RunningTool(block.arguments(server.url(), pipe.path) + ["--timeout", "0.5"])
        #expect(await tool.status == ProcessStatus.timeout.rawValue)
    }

    @Test("A signal leaves no half file", arguments: [SIGINT, SIGTERM, SIGHUP])
    func draft(number: Int32) async throws {
        let folder = try TestFolder()
        defer { folder.remove() }
        let gate = Gate()
        let head = Script.head(200, fields: [("Content-Length", "9")])
        let server = try ScriptedServer([.read, .send(head), .send("half"), .open(gate), .stall])
        defer { server.stop() }
        let tool = try RunningTool(["fetch", server.url(), "-o", folder.path("out")])
        try await gate.wait()
        tool.send(number)
        #expect(await tool.status == 128 + number)
        #expect(try folder.entries == [])
    }
}
