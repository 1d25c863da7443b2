import Foundation
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

/// Checks that a file or pipe that blocks does not keep the program from ending.
@Suite("The program ends while a file or a pipe blocks it", .patience(minutes: 2)) struct BlockedEndTests {
    private let folder = TestFolder()

    enum Block: String, CaseIterable, Sendable {
        case run, dataFile, bearerFile, cookieJar, output, standardOutput

        var takesTimeout: Bool { self != .run }

        func arguments(_ url: String, _ pipe: String) -> [String] {
            switch self {
            case .run: ["run", pipe]
            case .dataFile: ["fetch", url, "-d", "@" + pipe]
            case .bearerFile: ["fetch", url, "--bearer-file", pipe]
            case .cookieJar: ["fetch", url, "--cookie-jar", pipe, "-o", "/dev/null"]
            case .output: ["fetch", url, "-o", pipe]
            case .standardOutput: ["fetch", url]
            }
        }

        /// Returns when the program is blocked or about to be. The caller must keep the returned handle until then.
        /// - Parameter sent: Opened when the server has sent its response.
        func waits(_ tool: RunningTool, _ pipe: NamedPipe, after sent: Gate) async throws -> FileHandle? {
            switch self {
            case .run, .dataFile, .bearerFile: return try await pipe.open(O_WRONLY)
            case .output: return try await pipe.open(O_RDONLY)
            // It waits for a reader of the pipe.
            case .cookieJar:
                try await sent.wait()
                return nil
            case .standardOutput:
                try await tool.readFirstByte()
                return tool.output
            }
        }
    }

    private func server(_ sent: Gate = Gate()) throws -> ScriptedServer {
        let head = Script.head(200, fields: [("Content-Length", "\(4 << 20)")])
        return try ScriptedServer([.read, .send(head + Data(count: 4 << 20)), .open(sent), .stall])
    }

    @Test(arguments: Block.allCases, [SIGINT, SIGTERM, SIGHUP])
    func `a signal ends the program with the signal's status`(block: Block, number: Int32) async throws {
        let sent = Gate()
        let server = try server(sent)
        let pipe = try NamedPipe(in: folder)
        let tool = try RunningTool(block.arguments(server.url(), pipe.path))
        let held = try await block.waits(tool, pipe, after: sent)
        tool.send(number)
        #expect(await tool.status == 128 + number)
        try held?.close()
    }

    /// The other end of the pipe stays closed.
    @Test(arguments: Block.allCases.filter(\.takesTimeout))
    func `--timeout ends the program with status 5`(block: Block) async throws {
        let server = try server()
        let pipe = try NamedPipe(in: folder)
        let tool = try RunningTool(block.arguments(server.url(), pipe.path) + ["--timeout", "0.5"])
        #expect(await tool.status == ProcessStatus.timeout.rawValue)
    }

    /// The program's last message, long enough to fill a pipe.
    enum LastMessage: String, CaseIterable, Sendable {
        case error, usage, help

        var command: String {
            let tool = "exec '\(RunningTool.path)' fetch"
            return switch self {
            case .error: "\(tool) http://127.0.0.1/ -d @\(String(repeating: "x", count: 9000)) 2>ff"
            case .usage: "\(tool) http://127.0.0.1/ --\(String(repeating: "x", count: 9000)) 2>ff"
            case .help: "\(tool) --help >ff"
            }
        }

        /// A part of it. The loader may say something before the program begins.
        var words: String { self == .help ? "OVERVIEW" : "xxx" }
    }

    /// F_SETPIPE_SZ, which Swift does not import.
    private static let setPipeSize: Int32 = 1031

    @Test(arguments: LastMessage.allCases, [SIGINT, SIGTERM, SIGHUP])
    func `a signal ends the program in a blocked message`(message: LastMessage, number: Int32) async throws {
        // Opened for reading and writing, so that the shell's own open does not block.
        let held = try await NamedPipe(in: folder).open(O_RDWR)
        try #require(fcntl(held.fileDescriptor, Self.setPipeSize, 4096) == 4096)
        let tool = try RunningTool(["-c", message.command], shell: true, in: folder)
        try await held.read(through: message.words)
        tool.send(number)
        #expect(await tool.status == 128 + number)
        try held.close()
    }

    @Test(arguments: [("INT", SIGINT), ("TERM", SIGTERM), ("HUP", SIGHUP)])
    func `a signal that the parent ignores is ignored`(name: String, number: Int32) async throws {
        let (sent, goesOn) = (Gate(), Gate())
        let server = try ScriptedServer(
            [
                .read, .open(sent), .wait(until: goesOn), .send(Script.head(200, fields: [("Content-Length", "0")])),
                .close,
            ])
        let command = "trap '' \(name); exec '\(RunningTool.path)' fetch \(server.url())"
        let tool = try RunningTool(["-c", command], shell: true, in: folder)
        try await sent.wait()
        tool.send(number)
        goesOn.open()
        #expect(await tool.status == 0)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func `a signal leaves no partial file`(number: Int32) async throws {
        let gate = Gate()
        let head = Script.head(200, fields: [("Content-Length", "9")])
        let server = try ScriptedServer([.read, .send(head), .send("half"), .open(gate), .stall])
        let tool = try RunningTool(["fetch", server.url(), "-o", folder.path("out")])
        try await gate.wait()
        tool.send(number)
        #expect(await tool.status == 128 + number)
        #expect(try folder.entries == [])
    }

    /// timeout(1) signals the program and then its process group. Two different signals, since the system may merge two
    /// equal ones.
    @Test(arguments: 0..<5)
    func `two signals are one: no partial file, the status of one of them`(_: Int) async throws {
        let gate = Gate()
        // More than sockets hold, so that the gate opens once the program writes its file.
        let half = Data(count: 32 << 20)
        let head = Script.head(200, fields: [("Content-Length", "\(2 * half.count)")])
        let server = try ScriptedServer([.read, .send(head + half), .open(gate), .stall])
        let tool = try RunningTool(["fetch", server.url(), "-o", folder.path("out")])
        try await gate.wait()
        tool.send(SIGTERM)
        tool.send(SIGHUP)
        #expect([128 + SIGTERM, 128 + SIGHUP].contains(await tool.status))
        #expect(try folder.entries == [])
    }

    @Test(arguments: 0..<5) func `serve ends with 0 after two signals`(_: Int) async throws {
        let tool = try RunningTool(["serve", "--port", "0"])
        try await tool.readFirstByte()
        tool.send(SIGTERM)
        tool.send(SIGINT)
        #expect(await tool.status == 0)
    }

    @Test func `many signals do not keep a blocked program`() async throws {
        let pipe = try NamedPipe(in: folder)
        let tool = try RunningTool(["run", pipe.path])
        let held = try await pipe.open(O_WRONLY)
        for _ in 0..<1000 { tool.send(SIGTERM) }
        #expect(await tool.status == 128 + SIGTERM)
        try held.close()
    }
}
