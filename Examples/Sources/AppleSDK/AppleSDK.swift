// Runs an SDK for Apple's platforms, unchanged but for an import, over curl.
//
//     AppleSDK http://127.0.0.1:8080
import Foundation
import NetworkURLSession

@main
struct AppleSDK {
    static func main() async throws {
        guard let base = CommandLine.arguments.dropFirst().first.flatMap(URL.init(string:)) else {
            print("usage: AppleSDK URL")
            exit(2)
        }
        let sdk = ChatSDK(baseURL: base)
        let events = try await sdk.stream("events/3", delegate: Stopwatch { print("metrics: \($0)") })
        print("\(events.count) events, the last is \(events.last ?? "none")")
        let file = try await sdk.attachment(of: 300_000)
        defer { try? FileManager.default.removeItem(at: file) }
        let size = try Data(contentsOf: file).count
        let echo = try await sdk.send(file)
        print("\(size) bytes came, and went: \(String(decoding: echo, as: UTF8.self).contains("300000"))")
        let users = try await withCheckedThrowingContinuation { continuation in
            sdk.users { continuation.resume(with: $0) }
        }
        print("\(users.count) bytes of users")
        do { _ = try await sdk.stream("status/503") } catch let error as ChatError { print("refused: \(error.status)") }
        do {
            _ = try await ChatSDK(baseURL: URL(string: "http://no-such-host.invalid")!).attachment(of: 1)
        } catch let error as URLError where error.code == .cannotFindHost { print("cannotFindHost") }
    }
}
