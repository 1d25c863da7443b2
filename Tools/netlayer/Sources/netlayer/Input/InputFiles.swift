import Foundation

/// The files that options name, each read once: an arm's process gets the bytes that the comparison has read.
final class InputFiles: Sendable {
    private let files: Guarded<[String: Data]>
    /// The most bytes of all files together.
    private let limit: Int
    /// Whether a file that is not here is read.
    private let reads: Bool

    init(limit: Int = .max) {
        files = Guarded([:])
        (self.limit, reads) = (limit, true)
    }

    /// Creates the files that another process has read. No further file is read.
    init(read files: [String: Data]) {
        self.files = Guarded(files)
        (limit, reads) = (.max, false)
    }

    /// The bytes of the files that have been read, by path.
    var all: [String: Data] { files.withLock { $0 } }

    /// Returns the bytes of a file; `-` is standard input.
    func bytes(of path: String, name: String? = nil, limit: Int) async throws -> Data {
        if let known = files.withLock({ $0[path] }) { return known }
        guard reads else {
            let name = name ?? (path == "-" ? "standard input" : path)
            throw ToolFailure(.file, "\(name) was not read when the comparison began")
        }
        let source = try ByteSource(path: path, name: name)
        let bytes = Data(try await source.readAll(limit: limit))
        try files.withLock { files in
            guard files.values.reduce(bytes.count, { $0 + $1.count }) <= self.limit else {
                throw ToolFailure(.file, "the files of requests have more than \(self.limit >> 20) MiB together")
            }
            files[path] = bytes
        }
        return bytes
    }
}
