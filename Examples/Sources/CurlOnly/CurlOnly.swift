// A program without URLSession: it imports the core and the curl transport, and does not link FoundationNetworking.
//
//   swift run CurlOnly http://127.0.0.1:8080/test
import CurlTransport
@preconcurrency import Glibc
import NetworkCore

@main
struct CurlOnly {
    static func main() async {
        guard CommandLine.arguments.count == 2 else { end("usage: CurlOnly URL", status: 2) }
        let client = NetworkClient(transport: CurlNetworkDispatcher.shared)
        do {
            let response = try await client.send(RequestData(path: CommandLine.arguments[1]), as: .data)
            print("\(response.status.code), \(response.body.count) bytes")
        } catch {
            end("CurlOnly: \(error)", status: 1)
        }
    }

    static func end(_ message: String, status: Int32) -> Never {
        fputs(message + "\n", stderr)
        exit(status)
    }
}
