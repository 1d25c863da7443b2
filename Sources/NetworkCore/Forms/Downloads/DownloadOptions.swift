extension DownloadedFile {
    /// How a download is written, checked and resumed.
    public struct Options: Sendable {
        /// Whether a download that was interrupted goes on where it stopped, also in a later process. On by default; it
        /// works for GET, and where the server names a strong ETag or a Last-Modified. Another query is another file,
        /// except for the parameters that sign a URL (`X-Amz-…`, `X-Goog-…`, `Signature`, `Expires`).
        public var resumes = true
        /// What the bytes have to add up to. `nil`, the default, checks nothing.
        public var checksum: ExpectedChecksum?
        /// How often a connection that breaks in mid-download is followed by another one. 5 by default. That a first
        /// connection can't be made at all is not one of these.
        public var retries = 5
        /// The time before the first of them; it doubles with each in a row, up to half a minute. Half a second by
        /// default.
        public var retryDelay = Duration.milliseconds(500)
        /// The largest file to accept, in bytes: 1 TiB by default. A larger one is ``NetworkError/Code/bodyTooLarge``,
        /// and what was written is deleted.
        public var maximumBytes = 1 << 40
        /// The permissions of the file, `0o600` for example. `nil`, the default, keeps those of a file that is
        /// replaced, and leaves those of a new one to the process's umask. While the file is not complete, its owner
        /// may read and write it too, and other users may do no more than in the end.
        public var permissions: UInt16?
        /// Told how far it is after each piece that was written. It must return soon: the download waits for it.
        public var progress: (@Sendable (TransferProgress) -> Void)?
        /// The pauses between retries, and the chance in them.
        public var time = TimeSource.system

        /// The defaults.
        public init() {}

        func check() throws {
            try checksum?.check()
            if retries < 0 { throw OptionCheck.invalid("retries", "is \(retries), below 0") }
            if maximumBytes < 0 { throw OptionCheck.invalid("maximumBytes", "is \(maximumBytes), below 0") }
            if let permissions, permissions > 0o777 { throw OptionCheck.invalid("permissions", "are above 0o777") }
            try OptionCheck.duration(retryDelay, "retryDelay")
        }
    }
}

/// A file that was downloaded.
public struct DownloadedFile: Sendable, Hashable {
    /// Where it is.
    public var path: String
    /// Its length in bytes.
    public var bytes: Int
    /// Where the last exchange went on; 0 if it began at the start.
    public var resumedFrom: Int
    /// Its checksum in hexadecimal digits, if one was expected.
    public var checksum: String?

    /// A file, for dispatchers and tests of your own.
    public init(path: String, bytes: Int, resumedFrom: Int = 0, checksum: String? = nil) {
        self.path = path
        self.bytes = bytes
        self.resumedFrom = resumedFrom
        self.checksum = checksum
    }
}
