public import Foundation
public import NetworkCore

/// A response, or a failure, with all that is compared.
public struct RecordedResponse: Codable, Hashable, Sendable {
    /// One header or trailer field, as it was received.
    public struct Field: Codable, Hashable, Sendable {
        /// The name, with its case.
        public var name: String
        /// The value.
        public var value: String

        /// Creates a field.
        public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }

        /// By their bytes: for Swift, "é" equals "e" with an accent.
        public static func == (left: Field, right: Field) -> Bool {
            left.name.hasSameBytes(as: right.name) && left.value.hasSameBytes(as: right.value)
        }

        /// Adds the bytes of name and value.
        public func hash(into hasher: inout Hasher) {
            for byte in name.utf8 { hasher.combine(byte) }
            for byte in value.utf8 { hasher.combine(byte) }
        }
    }

    /// The largest body that is kept, in bytes. Of a larger one only length and digest are compared.
    public static let maximumBody = 1 << 20

    /// `nil` for a failure.
    public var status: Int?
    /// The header fields, in their order.
    public var fields: [Field] = []
    /// The body after decompression; empty if it is larger than ``maximumBody``.
    public var body = Data()
    /// The length of the whole body, in bytes.
    public var bodyBytes = 0
    /// The number of an earlier response with the same body, which is then left out here.
    public var bodyOf: Int?
    /// Whether the body has only the start of the whole one.
    public var isCut = false
    /// The SHA-256 of a body that is compared as a whole, such as one larger than ``maximumBody``.
    public var digest: String?
    /// The trailer fields, in their order.
    public var trailers: [Field] = []
    /// The URLs that redirects led to, in order.
    public var redirects: [String] = []
    /// Whether there was room for the status and the code of the error alone.
    public var isOutline = false
    /// The code of the error.
    public var errorCode: String?
    /// The error in words, safe to print.
    public var errorText: String?

    /// Creates a response without a status, fields and a body.
    public init() {}

    /// The status and the code of the error alone.
    public var outline: RecordedResponse {
        var outline = RecordedResponse()
        (outline.status, outline.errorCode, outline.isOutline) = (status, errorCode, true)
        return outline
    }

    /// Returns header or trailer fields as they are compared.
    public static func fields(_ fields: HTTPFields?) -> [Field] {
        (fields ?? [:]).map { Field($0.name.rawName, $0.value) }
    }

    /// Makes the response a failure.
    public mutating func setFailure(_ error: any Error) {
        status = nil
        errorCode = NetworkError.code(of: error)?.rawValue ?? "\(type(of: error))"
        errorText = NetworkError.logText(of: error)
    }

    /// Sets the body, or its length and digest.
    public mutating func setBody(_ bytes: Data) {
        bodyBytes = bytes.count
        if bytes.count <= Self.maximumBody {
            body = bytes
        } else {
            setDigest(SHA256Checksum.digest(bytes), length: bytes.count)
        }
    }

    /// Sets the length and the digest of a body that is compared by these alone.
    public mutating func setDigest(_ sum: [UInt8], length: Int) {
        (body, bodyBytes, digest) = (Data(), length, sum.hexadecimal)
    }
}
