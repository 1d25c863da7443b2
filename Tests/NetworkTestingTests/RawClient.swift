import Foundation

@testable import NetworkTesting

/// A client that sends bytes unchanged, even those that no HTTP client would send.
enum RawClient {
    /// Sends a text on a connection of its own, finishes sending, and reads until the server closes the connection.
    static func exchange(_ text: String, port: UInt16) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            // Blocking one of Swift's own threads would take it from the other tests.
            Thread.detachNewThread {
                continuation.resume(with: Result { try exchangeNow(Data(text.utf8), port: port) })
            }
        }
    }

    private static func exchangeNow(_ bytes: Data, port: UInt16) throws -> String {
        let (socket, isConnected) = try LoopbackSocket.connecting(to: port, limit: 10_000)
        defer { socket.close() }
        guard isConnected, socket.send(bytes) else { return "" }
        socket.finishSending()
        var received = Data()
        while let more = socket.receive() { received += more }
        return String(decoding: received, as: UTF8.self)
    }
}

/// Texts in place of a number.
enum HostileNumber {
    static let all = [
        "", "-", "-0", "-1", "-5", "+5", "0x10", "1e3", "1.5", " 5", "5,5", "5;x", "abc", "\u{661}", "٣",
        "\(Int.max)", "\(Int.max - 1)", "\(Int.min)", "9223372036854775808", "18446744073709551616",
        "-9223372036854775809", "7fffffffffffffff", "8000000000000000", "ffffffffffffffff", "-7fffffffffffffff",
        String(repeating: "9", count: 400),
    ]
}
