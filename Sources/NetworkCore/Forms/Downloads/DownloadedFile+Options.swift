extension DownloadedFile {
    /// The options for writing, checking and resuming a download.
    public struct Options: Sendable {
        /// Whether an interrupted download is resumed where it stopped, also in a later process. Default: `true`.
        ///
        /// It works for a GET without a body and without a `Range` of its own, if the first response is 200 without a
        /// content coding and has a strong ETag of at most 4096 bytes; or no ETag at all, and a Last-Modified at least
        /// a second before its Date. The server must then send the rest as 206, to the end, with the same ETag or
        /// without another Last-Modified. The download otherwise begins again. A different query means a different
        /// file, except for the parameters that sign a URL (`X-Amz-…`, `X-Goog-…`, `Signature`, `Expires`).
        public var resumes = true
        /// The checksum that the file must have. With `nil`, the default, nothing is checked.
        public var checksum: ExpectedChecksum?
        /// The limit on retries after a connection that breaks during the download, by any failure that
        /// ``RetryInterceptor/Policy/codes`` holds by default; at least 0. Default: 5. Only a GET whose body can be
        /// sent again is retried. A failure of the first connection, before any byte arrives, is not retried here.
        public var maximumRetries = 5
        /// The delay before the first retry. It doubles with each failure in a row, up to 30 s. More than 0, and at
        /// most a year. Default: 500 ms.
        public var retryDelay = Duration.milliseconds(500)
        /// The limit on the size of the file, in bytes; at least 0. Default: 1 TiB. A larger file fails with
        /// ``NetworkError/Code/bodyTooLarge``, and the bytes written so far are deleted.
        public var maximumBytes = 1 << 40
        /// The permissions of the file, such as `0o600`, at most `0o777`. With `nil`, the default, a file that is
        /// replaced passes on its permissions, and the process's umask decides for a new one. Owner and group are
        /// passed on as far as the system allows it; another group gets no more of the permissions than others had.
        /// While the file is incomplete, its owner may also read and write it, and other users have no more access than
        /// to the finished file.
        public var permissions: UInt16?
        /// Receives the progress after each piece that is written. It must return soon, since the download waits for
        /// it.
        public var progress: (@Sendable (TransferProgress) -> Void)?
        /// The source of the pauses between retries and of their random part.
        public var time = TimeSource.system

        /// Creates options with the defaults.
        public init() {}

        func check() throws {
            try checksum?.check()
            if maximumRetries < 0 { throw OptionCheck.invalid("maximumRetries", "is \(maximumRetries), below 0") }
            if maximumBytes < 0 { throw OptionCheck.invalid("maximumBytes", "is \(maximumBytes), below 0") }
            if let permissions, permissions > 0o777 { throw OptionCheck.invalid("permissions", "are above 0o777") }
            try OptionCheck.duration(retryDelay, "retryDelay")
        }
    }

    /// The checksum that a download must have.
    public struct ExpectedChecksum: Sendable {
        let hexadecimal: String
        let make: @Sendable () -> any Checksum

        /// Creates an expectation with a checksum of your own.
        /// - Parameters:
        ///   - hexadecimal: The expected result, two digits per byte, in either case.
        ///   - make: Creates the checksum.
        public init(_ hexadecimal: String, by make: @escaping @Sendable () -> any Checksum) {
            self.hexadecimal = hexadecimal.lowercased()
            self.make = make
        }

        /// Returns the expectation of a SHA-256 in the format of `sha256sum`: 64 hexadecimal digits.
        public static func sha256(_ hexadecimal: String) -> ExpectedChecksum {
            ExpectedChecksum(hexadecimal) { SHA256Checksum() }
        }

        func check() throws {
            let isHexadecimal = hexadecimal.utf8.allSatisfy { $0.hexDigit != nil }
            var empty = make()
            let digits = 2 * empty.finish().count
            guard hexadecimal.utf8.count == digits else {
                throw OptionCheck.invalid(
                    "checksum", "must have \(digits) hexadecimal digits, and has \(hexadecimal.utf8.count) bytes")
            }
            guard isHexadecimal else { throw OptionCheck.invalid("checksum", "must be hexadecimal digits") }
        }
    }
}

/// A downloaded file.
public struct DownloadedFile: Sendable, Hashable {
    /// The path of the file.
    public var path: String
    /// The length of the file in bytes.
    public var bytes: Int
    /// The offset in bytes at which the last exchange resumed; 0 if it began at the start. A download that was
    /// interrupted again has more than an earlier one had left.
    public var resumedFrom: Int
    /// The file's checksum in hexadecimal digits, if one was expected.
    public var checksum: String?

    /// Creates a file, for dispatchers and tests of your own.
    public init(path: String, bytes: Int, resumedFrom: Int = 0, checksum: String? = nil) {
        self.path = path
        self.bytes = bytes
        self.resumedFrom = resumedFrom
        self.checksum = checksum
    }
}
