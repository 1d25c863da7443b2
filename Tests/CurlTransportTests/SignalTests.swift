import Foundation
import NetworkCore
import NetworkTesting
import Testing

@testable import CurlTransport

@Suite("Signals", .timeLimit(.minutes(1)))
struct SignalTests {
    /// TLS libraries write without MSG_NOSIGNAL. After the peer has gone, the writing thread gets SIGPIPE, whose
    /// default action ends the process. Also, the program's signal handlers must not run on the loop's thread.
    @Test func theLoopsThreadHearsNoSignal() async throws {
        let server = try ScriptedServer(.ok("ok"))
        defer { server.stop() }
        let dispatcher = CurlNetworkDispatcher()
        let request = TransportRequest(url: try RequestURL(server.url()))
        #expect(try await dispatcher.send(request).body.collect() == Data("ok".utf8))
        var masks: [UInt64] = []
        while masks.isEmpty {
            masks = try Self.masks(ofThreads: "netlayer-curl")
            await Task.yield()
        }
        for mask in masks {
            for signal in [SIGPIPE, SIGTERM, SIGALRM] { #expect(mask & (1 << (signal - 1)) != 0) }
            // These signals still reach the thread, for the program's crash handler and profiler.
            for signal in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGPROF] {
                #expect(mask & (1 << (signal - 1)) == 0)
            }
        }
        await dispatcher.shutDown(within: .seconds(5))
    }

    /// Returns the blocked signals of the threads with the given name, as listed in /proc: one bit for each, from
    /// signal 1 on. Covers only sleeping threads: the C library blocks all signals for a moment when a thread begins or
    /// ends.
    private static func masks(ofThreads name: String) throws -> [UInt64] {
        // A thread that ends in the meantime no longer has files.
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").compactMap { thread in
            guard let status = try? ProcessFigures.text("/proc/self/task/\(thread)/status") else { return nil }
            let lines = status.split(separator: "\n")
            guard lines.first?.hasSuffix("\t\(name)") == true, lines.contains("State:\tS (sleeping)") else {
                return nil
            }
            return lines.first { $0.hasPrefix("SigBlk:") }.flatMap { UInt64($0.split(separator: "\t")[1], radix: 16) }
        }
    }
}
