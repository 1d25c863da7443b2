import Foundation

/// The place that a path leads to, for data to be written there: a regular file is replaced in its place, behind every
/// symbolic link, even a link to a file that does not exist yet. Anything but a regular file is never replaced.
enum FilePlace {
    /// A regular file with its attributes, or a file that does not exist yet.
    case file(path: String, existing: stat?)
    /// A device or a pipe, to be opened by the path as given.
    case special
    /// A descriptor that this process has open, such as `/dev/stdout`. Opening it by its path would write a file from
    /// its start.
    case open(Int32)

    init(toWrite path: String) throws(SystemFailure) {
        // The system's own check comes first: it finds loops, and refuses a link that must not be followed.
        var status = stat()
        let exists = unsafe stat(path, &status) == 0
        if !exists, errno != ENOENT || path.isEmpty { throw SystemFailure(errno) }
        if exists, status.st_mode & S_IFMT == S_IFDIR { throw SystemFailure(EISDIR) }
        var end = path
        while let target = try? FileManager.default.destinationOfSymbolicLink(atPath: end) {
            let folder = end.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(end[...$0]) } ?? ""
            // The content of a link in /proc is a description, not a path.
            if let real = Self.realPath(folder), real.hasBytePrefix("/proc/") {
                let number = Int32(String(decoding: end.utf8.dropFirst(folder.utf8.count), as: UTF8.self))
                let own = Self.realPath("/proc/self") ?? "/proc/self"
                let isOwn = real == own + "/fd" || real.hasBytePrefix(own + "/task/") && real.hasSuffix("/fd")
                self = number.flatMap { isOwn ? .open($0) : nil } ?? .special
                return
            }
            end = target.hasBytePrefix("/") ? target : folder + target
        }
        let isFile = status.st_mode & S_IFMT == S_IFREG
        self = exists && !isFile ? .special : .file(path: end, existing: exists ? status : nil)
    }

    private static func realPath(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
