import CurlTransport
import Foundation
import NetworkCore

/// Sends many requests that are all in flight at once, and prints the time, the threads and the memory used:
///
///     ManyInFlight URL COUNT
@main
struct ManyInFlight {
    static func main() async {
        guard CommandLine.arguments.count == 3, let count = Int(CommandLine.arguments[2]), count > 0 else {
            fail("usage: ManyInFlight URL COUNT", status: 2)
        }
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.maximumConnectionsPerOrigin = count
        configuration.maximumConnections = count
        let dispatcher = CurlNetworkDispatcher(configuration: configuration)
        do {
            var request = TransportRequest(url: try RequestURL(CommandLine.arguments[1]))
            request.options.connectTimeout = .seconds(60)
            request.options.totalTimeout = .seconds(120)
            let (sent, start) = (request, ContinuousClock.now)
            let answered = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        let response = try await dispatcher.send(sent)
                        _ = try await response.body.collect()
                        return response.head.status.code
                    }
                }
                var answered: [Int: Int] = [:]
                for try await status in group { answered[status, default: 0] += 1 }
                return answered
            }
            print("responses by status: \(answered) in \(ContinuousClock.now - start)")
            print("threads: \(figure("Threads")), peak resident memory: \(figure("VmHWM") / 1024) MiB")
        } catch {
            fail("\(error)", status: 1)
        }
    }

    /// Returns a number in /proc/self/status.
    private static func figure(_ name: String) -> Int {
        let status = try? FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/status")).readToEnd()
        let line = String(decoding: status ?? Data(), as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(status)
    }
}
