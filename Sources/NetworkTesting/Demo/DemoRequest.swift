import Foundation

/// A request as a route receives it.
struct DemoRequest {
    let method: String
    /// The path, percent-encoded as received.
    let path: String
    /// The query, percent-encoded as received; empty if there is none.
    let query: String
    /// Names and values, sorted by name.
    let headers: [[String]]
    let isHTTP10: Bool
    /// The value in place of `:name` in the route's path.
    var value = ""

    private(set) var bodyBytes = 0
    private(set) var checksum = CRC32()
    private var keptBody = Data()

    /// Creates a request from its head; `nil` if the first line is not a request's.
    init?(head: String) {
        // What is not ASCII is UTF-8 here, as in the responses.
        let bytes = head.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        let received = ReceivedRequest(head: String(decoding: bytes, as: UTF8.self), body: Data(), connection: 0)
        guard received.requestLine.count == 3 else { return nil }
        let target = received.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        method = received.method
        path = String(target[0])
        query = target.count > 1 ? String(target[1]) : ""
        headers = received.fields.map { [$0.name, $0.value] }.sorted { $0[0].lowercased() < $1[0].lowercased() }
        isHTTP10 = received.requestLine[2] == "HTTP/1.0"
    }

    /// Returns the last value of a field.
    func value(of name: String) -> String? { headers.last { $0[0].lowercased() == name }?[1] }

    /// Whether the connection goes on after the response ([RFC 9112 §9.3](https://www.rfc-editor.org/rfc/rfc9112)).
    var keepsConnection: Bool {
        let tokens = (value(of: "connection") ?? "").lowercased().split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }
        return isHTTP10 ? tokens.contains("keep-alive") : !tokens.contains("close")
    }

    /// Whether the client waits for status 100 before it sends the body.
    var expectsContinue: Bool { !isHTTP10 && value(of: "expect")?.lowercased() == "100-continue" }

    /// The largest body, in bytes, that is held in memory; a larger one gets status 413.
    static let maximumBodyBytes = 67_108_864

    /// Adds the next piece of the body.
    mutating func add(_ piece: Data, for use: DemoRoute.BodyUse?) {
        bodyBytes += piece.count
        switch use {
        case nil: break
        case .checksum: checksum.update([UInt8](piece))
        // What is too large is read to its end, and then refused.
        case .whole: if bodyBytes <= Self.maximumBodyBytes { keptBody.append(piece) } else { keptBody = Data() }
        }
    }

    /// Returns the whole body. Throws ``DemoRefusal`` (413) above ``maximumBodyBytes``.
    func body() throws -> Data {
        guard bodyBytes <= Self.maximumBodyBytes else {
            throw DemoRefusal(status: 413, message: "the body is larger than \(Self.maximumBodyBytes) bytes")
        }
        return keptBody
    }

    /// Returns the path's value as a number. Throws ``DemoRefusal`` (400) for anything else.
    func number(in range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(value), range.contains(number) else {
            throw DemoRefusal(
                status: 400,
                message: "'\(value)' is not a number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }
}

/// A request that a route refuses.
struct DemoRefusal: Error {
    let status: Int
    let message: String
}
