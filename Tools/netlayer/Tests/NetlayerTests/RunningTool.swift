import Foundation
import NetworkCore
import Testing
import ToolSupport

/// A run of the program that is still under way, so that a test can end it.
final class RunningTool: Sendable {
    static let path = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "netlayer")
        .path

    /// A shell's job in the background ignores SIGINT and SIGQUIT, and so would all programs that it starts.
    static let setDefaultSignals: Void = {
        for number in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
    }()

    let output: FileHandle
    let number: pid_t
    private let ended: Task<Int32, Never>

    /// - Parameters:
    ///   - arguments: The arguments of the program, or those of `sh` after `-c`.
    ///   - folder: The working directory.
    init(_ arguments: [String], shell: Bool = false, in folder: TestFolder? = nil) throws {
        Self.setDefaultSignals
        let process = Process()
        process.executableURL = URL(filePath: shell ? "/bin/sh" : Self.path)
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = folder.url }
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        output = pipe.fileHandleForReading
        let (codes, continuation) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            // The end by an unhandled signal has no status of its own.
            continuation.yield(process.terminationReason == .exit ? process.terminationStatus : -1)
            continuation.finish()
        }
        try process.run()
        number = process.processIdentifier
        ended = Task {
            for await code in codes { return code }
            return -1
        }
    }

    /// Returns when the program has begun to write.
    func readFirstByte() async throws { try await output.readFirstByte() }

    func send(_ signal: Int32) { kill(number, signal) }

    /// The status, or -1 if the program was killed because it did not end within 30 seconds (times the patience).
    var status: Int32 {
        get async {
            let killer = Task { [number] in
                try await Task.sleep(for: .seconds(30 * patienceFactor))
                kill(number, SIGKILL)
            }
            defer { killer.cancel() }
            return await ended.value
        }
    }
}

extension FileHandle {
    /// Returns when there is output. Reads on a thread that may block.
    func readFirstByte() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread { continuation.resume(with: Result { _ = try self.read(upToCount: 1) }) }
        }
    }

    /// Returns when the output has contained a text, or has ended.
    func read(through text: String) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        var output = Data()
                        while output.suffix(text.utf8.count) != Data(text.utf8), let byte = try self.read(upToCount: 1),
                            !byte.isEmpty
                        {
                            output += byte
                        }
                    })
            }
        }
    }
}

/// A named pipe. The test opens one end when the program has opened the other one.
struct NamedPipe {
    let path: String

    init(in folder: TestFolder) throws {
        path = folder.path("ff")
        try #require(mkfifo(path, 0o600) == 0)
    }

    /// Opens the test's end on a thread that may block.
    func open(_ flags: Int32) async throws -> FileHandle {
        let number = await withCheckedContinuation { continuation in
            Thread.detachNewThread { [path] in continuation.resume(returning: Glibc.open(path, flags)) }
        }
        try #require(number >= 0)
        return FileHandle(fileDescriptor: number, closeOnDealloc: true)
    }
}
