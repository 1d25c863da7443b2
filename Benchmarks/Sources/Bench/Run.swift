import Glibc
import Synchronization

/// The life of a contender's process: reads its arguments, runs, prints one line of JSON, and exits.
public enum Run {
    /// Runs a contender. The exit status is 0 if no request failed.
    public static func main<C: Contender>(_ type: C.Type) async -> Never {
        do {
            let arguments = try Arguments(CommandLine.arguments)
            let contender = try await C(arguments)
            let run = Workers(contender, arguments)
            print(try await withTaskExecutorPreference(try contender.executor) { try await run.measured() })
            fflush(nil)
            exit(run.errors == 0 ? 0 : 1)
        } catch is CanNot {
            print(#"{"unsupported":true}"#)
            fflush(nil)
            exit(0)
        } catch {
            complain("\(CommandLine.arguments[0]): \(error)\n")
            exit(2)
        }
    }
}

private func complain(_ text: String) { _ = write(2, text, text.utf8.count) }

/// Keeps a number of requests in flight until all of them have completed.
final class Workers<C: Contender>: Sendable {
    private let contender: C
    private let arguments: Arguments
    private let started = Atomic(0)
    private let failed = Atomic(0)
    private let cannot = Atomic(false)

    init(_ contender: C, _ arguments: Arguments) {
        self.contender = contender
        self.arguments = arguments
    }

    var errors: Int { failed.load(ordering: .relaxed) }

    func measured() async throws -> String {
        var memory = 0
        if arguments.mode == .idle {
            // The fixed cost of the first connection is not part of the price of the next ones.
            try await attempt()
            memory = Process.status("VmRSS")
        }
        if arguments.polls > 0 {
            for _ in 0..<arguments.polls { Task { [self] in await poll() } }
            usleep(500_000)
        }
        let before = Usage.now
        var times: [UInt64] = []
        if arguments.mode == .burst {
            while started.load(ordering: .relaxed) < arguments.count {
                times += await together(upTo: started.load(ordering: .relaxed) + arguments.inFlight)
            }
        } else {
            times = await together(upTo: arguments.count)
        }
        let after = Usage.now
        if cannot.load(ordering: .relaxed) { throw CanNot() }
        if arguments.mode == .idle {
            sleep(2)
            memory = Process.status("VmRSS") - memory
        }
        times.sort()
        return """
            {"requests":\(times.count),"errors":\(errors),\
            "seconds":\(Double(after.nanoseconds - before.nanoseconds) / 1e9),\
            "user":\(after.user - before.user),"system":\(after.system - before.system),\
            "p50_us":\(times.percentile(0.5)),"p99_us":\(times.percentile(0.99)),\
            "peak_kb":\(Process.status("VmHWM")),"sockets":\(Process.openSockets),"grown_kb":\(memory)}
            """
    }

    /// Runs until the given total number of requests has been started, and all of them have completed.
    private func together(upTo limit: Int) async -> [UInt64] {
        let limit = min(limit, arguments.count)
        return await withTaskGroup(of: [UInt64].self) { group in
            for _ in 0..<arguments.inFlight { group.addTask { [self] in await worker(upTo: limit) } }
            var all: [UInt64] = []
            all.reserveCapacity(arguments.count)
            for await times in group { all += times }
            return all
        }
    }

    private func worker(upTo limit: Int) async -> [UInt64] {
        var times: [UInt64] = []
        times.reserveCapacity(arguments.count / arguments.inFlight * 2)
        while started.wrappingAdd(1, ordering: .relaxed).oldValue < limit {
            let began = Usage.monotonicNanoseconds
            do {
                try await attempt()
            } catch is CanNot {
                cannot.store(true, ordering: .relaxed)
            } catch {
                note(error)
            }
            times.append(Usage.monotonicNanoseconds - began)
        }
        // Each worker counts one request above the limit before it stops.
        started.wrappingSubtract(1, ordering: .relaxed)
        return times
    }

    private func attempt() async throws {
        let length: Int
        switch arguments.mode {
        case .get, .burst, .idle: length = try await contender.get()
        case .stream: length = try await contender.stream()
        case .json:
            let seen = try await contender.decode()
            length = seen > 0 ? seen : arguments.bytes
        case .post: return try await contender.post()
        case .upload: return try await contender.upload()
        }
        guard arguments.bytes == 0 || length == arguments.bytes else {
            throw WrongAnswer("a body of \(length) bytes instead of \(arguments.bytes)")
        }
    }

    private func poll() async {
        do {
            try await contender.poll()
            note(WrongAnswer("a long poll got a response"))
        } catch {
            note(error)
        }
    }

    private func note(_ error: any Error) {
        if failed.wrappingAdd(1, ordering: .relaxed).oldValue == 0 {
            complain("\(CommandLine.arguments[0]): \(error)\n")
        }
    }
}
