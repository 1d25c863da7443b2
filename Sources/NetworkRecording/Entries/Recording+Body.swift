public import FoundationEssentials

extension Recording {
    /// The recorded part of a body.
    public struct Body: Sendable, Hashable {
        /// The bytes from the start of the body.
        public var bytes: Data
        /// The number of bytes that were not recorded: those beyond the limit, or all of them if the body was left out
        /// because it has no structure, see ``Recording/Bodies``.
        public var omitted: Int
        /// The media type that a HAR file has for a body whose header fields have none; else `nil`.
        public var mediaType: String?

        /// Creates a body. Default: an empty one.
        public init(_ bytes: Data = Data(), omitted: Int = 0) {
            self.bytes = bytes
            self.omitted = max(0, omitted)
        }

        /// Creates a body from its start.
        /// - Parameters:
        ///   - bytes: The whole body.
        ///   - limit: The maximum number of bytes to keep.
        public init(_ bytes: Data, limit: Int) {
            let limit = max(0, limit)
            // A slice would keep all of the bytes.
            self.init(bytes.count > limit ? Data([UInt8](bytes.prefix(limit))) : bytes, omitted: bytes.count - limit)
        }

        /// The number of bytes that the body had, unless a secret in it was replaced.
        public var count: Int {
            let (sum, overflow) = bytes.count.addingReportingOverflow(omitted)
            return overflow ? .max : sum
        }

        /// Whether nothing was recorded of a body that was there.
        var isLeftOut: Bool { bytes.isEmpty && omitted > 0 }

        /// The bytes as UTF-8 text. Invalid bytes become U+FFFD.
        public var text: String { String(decoding: bytes, as: UTF8.self) }
    }
}
