extension TransportOptions {
    /// A compression of bodies ([RFC 9110 §8.4.1](https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1)).
    @nonexhaustive
    public enum ContentEncoding: String, Sendable, Hashable, CaseIterable {
        /// gzip ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952)).
        case gzip
        /// deflate ([RFC 1950](https://www.rfc-editor.org/rfc/rfc1950)).
        case deflate
        /// Brotli ([RFC 7932](https://www.rfc-editor.org/rfc/rfc7932)), if libcurl was built with it.
        case brotli = "br"
        /// Zstandard ([RFC 8878](https://www.rfc-editor.org/rfc/rfc8878)), if libcurl was built with it.
        case zstd

        /// The encodings that every transport decodes: gzip and deflate.
        public static let common: [ContentEncoding] = [.gzip, .deflate]

        var required: [TransportCapabilities.Capability] {
            switch self {
            case .gzip, .deflate: []
            case .brotli: [.brotli]
            case .zstd: [.zstd]
            }
        }
    }

    /// The compression of a request's body.
    @nonexhaustive
    public enum RequestCompression: Sendable, Hashable {
        /// No compression.
        case none
        /// gzip ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952)), at a level from 1 (fastest) to 9 (smallest).
        case gzip(level: Int)

        /// gzip at level 6, zlib's default compromise between speed and size.
        public static let gzip = RequestCompression.gzip(level: 6)

        func check() throws {
            guard case .gzip(let level) = self, !(1...9).contains(level) else { return }
            throw OptionCheck.invalid("requestCompression", "has the level \(level); it must be from 1 to 9")
        }
    }
}

/// The progress of a request's or a response's body.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes so far. For a resumed download, it includes the bytes from before. A transfer that starts
    /// again begins at 0.
    public var completed: Int
    /// The length of the whole body in bytes, if known.
    public var total: Int?

    /// Creates a progress value.
    public init(completed: Int, total: Int? = nil) {
        self.completed = completed
        self.total = total
    }

    /// The completed fraction, from 0 to 1; `nil` while the length is not known.
    public var fraction: Double? {
        total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 }
    }
}

/// A closure that is equal to its copies alone, so that options that contain one stay comparable.
final class Identified<Value: Sendable>: Sendable, Hashable {
    let value: Value

    init(_ value: Value) { self.value = value }

    static func == (left: Identified, right: Identified) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
