package import Foundation
package import NetworkCore

/// A response, or a failure, with all that is compared.
package struct RecordedResponse: Codable, Hashable, Sendable {
    /// One header or trailer field, as it was received.
    package struct Field: Codable, Hashable, Sendable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }

        /// By their bytes: for Swift, "é" equals "e" with an accent.
        package static func == (left: Field, right: Field) -> Bool {
            left.name.hasSameBytes(as: right.name) && left.value.hasSameBytes(as: right.value)
        }

        package func hash(into hasher: inout Hasher) {
            for byte in name.utf8 { hasher.combine(byte) }
            for byte in value.utf8 { hasher.combine(byte) }
        }
    }

    /// The largest body that is kept, in bytes. Of a larger one only length and digest are compared.
    package static let maximumBody = 1 << 20

    /// `nil` for a failure.
    package var status: Int?
    package var fields: [Field] = []
    /// The body after decompression; empty if it is larger than ``maximumBody``.
    package var body = Data()
    package var bodyBytes = 0
    /// The number of an earlier response with the same body, which is then left out here.
    package var bodyOf: Int?
    /// Whether the body has only the start of the whole one.
    package var isCut = false
    /// The SHA-256 of a body that is compared as a whole, such as one larger than ``maximumBody``.
    package var digest: String?
    package var trailers: [Field] = []
    /// The URLs that redirects led to, in order.
    package var redirects: [String] = []
    /// Whether there was room for the status and the code of the error alone.
    package var isOutline = false
    /// The code of the error.
    package var errorCode: String?
    /// The error in words, safe to print.
    package var errorText: String?

    package init() {}

    /// The status and the code of the error alone.
    package var outline: RecordedResponse {
        var outline = RecordedResponse()
        (outline.status, outline.errorCode, outline.isOutline) = (status, errorCode, true)
        return outline
    }

    /// Returns header or trailer fields as they are compared.
    package static func fields(_ fields: HTTPFields?) -> [Field] {
        (fields ?? [:]).map { Field($0.name.rawName, $0.value) }
    }

    /// Makes the response a failure.
    package mutating func setFailure(_ error: any Error) {
        status = nil
        errorCode = NetworkError.code(of: error)?.rawValue ?? "\(type(of: error))"
        errorText = NetworkError.logText(of: error)
    }

    /// Sets the body, or its length and digest.
    package mutating func setBody(_ bytes: Data) {
        bodyBytes = bytes.count
        if bytes.count <= Self.maximumBody {
            body = bytes
        } else {
            setDigest(SHA256Checksum.digest(bytes), length: bytes.count)
        }
    }

    /// Sets the length and the digest of a body that is compared by these alone.
    package mutating func setDigest(_ sum: [UInt8], length: Int) {
        (body, bodyBytes, digest) = (Data(), length, sum.hexadecimal)
    }
}
