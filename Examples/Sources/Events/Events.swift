import Foundation
import NetworkLayer

/// Prints a stream of server-sent events until the server ends it, with as many connections as necessary:
///
///     Events URL
@main
struct Events {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 1 else { fail("usage: Events URL", status: 2) }
        do {
            let client = NetworkClient(transport: DefaultTransport.shared)
            var (count, last) = (0, "none")
            let events = try await client.send(RequestData(path: arguments[0]), as: .events).body
            for try await event in events {
                print("\(event.id): \(event.data)")
                (count, last) = (count + 1, event.data)
            }
            print("\(count) events, the last is \(last)")
        } catch {
            fail("\(error)", status: 1)
        }
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(status)
    }
}
