#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a request carries to the server.
///
/// A body has no Content-Type of its own: whoever encodes it sets the header field.
public struct RequestBody: Sendable, Hashable {
    /// The bytes, sent with their Content-Length.
    public let bytes: Data

    /// A body of known bytes; they may be sent more than once, for example when a kept-alive connection turns out to
    /// be closed.
    public static func bytes(_ bytes: Data) -> RequestBody { RequestBody(bytes: bytes) }

    /// The length in bytes.
    public var count: Int { bytes.count }
}
