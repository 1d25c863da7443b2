import Foundation
import NetworkLayer
import NetworkTesting

/// The address of the tutorials' servers: their code uses a fixed address, which a test points to its server.
enum TutorialAddress {
    private static let lock = NSLock()
    // Accessed only while holding the lock.
    nonisolated(unsafe) private static var base = "http://127.0.0.1:1"

    static var movies: String { lock.withLock { base } }
    static var notes: String { lock.withLock { base + "/" } }

    static func set(_ address: String) { lock.withLock { base = address } }
}

/// The demo server's `/echo` response, which describes the request.
struct Echo: Codable {
    let method: String
    let path: String
    let query: String
    let headers: [[String]]
    let bodyBase64: String

    var body: String { String(decoding: Data(base64Encoded: bodyBase64) ?? Data(), as: UTF8.self) }

    func value(of name: String) -> String? { headers.first { $0[0].lowercased() == name.lowercased() }?[1] }
}

/// Returns the value that a closure-based call passes to its completion handler.
func called<Value>(_ start: (@escaping (Value) -> Void) -> Void) async -> Value {
    let handed: Handed<Value> = await withCheckedContinuation { continuation in
        start { continuation.resume(returning: Handed(value: $0)) }
    }
    return handed.value
}

/// Unchecked `Sendable`, because a value moves only once, from a callback to the waiting task.
private struct Handed<Value>: @unchecked Sendable {
    let value: Value
}
