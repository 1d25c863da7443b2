import Foundation
import NetworkLayer
import NetworkTesting

/// Where the tutorials' servers are: their code names an address that does not change, and a test puts a server there.
enum TutorialAddress {
    private static let lock = NSLock()
    // Reached under the lock alone.
    nonisolated(unsafe) private static var base = "http://127.0.0.1:1"

    static var movies: String { lock.withLock { base } }
    static var notes: String { lock.withLock { base + "/" } }

    static func set(_ address: String) { lock.withLock { base = address } }
}

/// What the demo server's `/echo` says of a request.
struct Echo: Codable {
    let method: String
    let path: String
    let query: String
    let headers: [[String]]
    let bodyBase64: String

    var body: String { String(decoding: Data(base64Encoded: bodyBase64) ?? Data(), as: UTF8.self) }

    func value(of name: String) -> String? { headers.first { $0[0].lowercased() == name.lowercased() }?[1] }
}

/// One call of a closure, as an `async` value.
func called<Value>(_ start: (@escaping (Value) -> Void) -> Void) async -> Value {
    let handed: Handed<Value> = await withCheckedContinuation { continuation in
        start { continuation.resume(returning: Handed(value: $0)) }
    }
    return handed.value
}

/// @unchecked: handed from a callback to the one who waits, once.
private struct Handed<Value>: @unchecked Sendable {
    let value: Value
}
