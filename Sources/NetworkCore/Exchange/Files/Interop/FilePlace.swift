import CLibrary

/// What a path leads to, for what is to be written there. One rule for all: a regular file is replaced where it is,
/// behind every symbolic link, also a link to nothing yet; what is no regular file is never replaced.
///
/// The path is the system's: nothing in it (`..`, `//`, `~`) is worked out here but the links at its end.
package enum FilePlace: Sendable {
    /// A regular file, or none yet.
    case file(path: String, existing: Attributes?)
    /// A device or a pipe, to be opened by the path as it was given.
    case special
    /// A descriptor that this process has open, `/dev/stdout` for example. Opened by its path, a file would be written
    /// from its start.
    case open(Int32)

    /// What a file has of the one that it replaces.
    package struct Attributes: Sendable {
        package let permissions: UInt32
        package let owner: UInt32
        package let group: UInt32
    }

    /// As many as the system follows.
    private static let maximumLinks = 40

    /// - Throws: ``NetworkError/Code/unwritableFile`` with the system's reason: a folder, a loop of links, an empty
    ///   path.
    package init(toWrite path: String) throws(NetworkError) {
        do throws(SystemFile.Failure) { self = try Self.find(path) } catch { throw .file(path, error) }
    }

    static func find(_ path: String) throws(SystemFile.Failure) -> FilePlace {
        // First in the system's words, which also refuse a link that must not be followed.
        let status = try SystemFile.status(of: path)
        if let status, status.st_mode & S_IFMT == S_IFDIR { throw SystemFile.Failure(code: EISDIR) }
        var end = path
        for _ in 0..<maximumLinks {
            guard let target = try SystemFile.target(of: end) else {
                guard let status else { return .file(path: end, existing: nil) }
                guard status.st_mode & S_IFMT == S_IFREG else { return .special }
                let attributes = Attributes(
                    permissions: status.st_mode & 0o777, owner: status.st_uid, group: status.st_gid)
                return .file(path: end, existing: attributes)
            }
            let folder = folder(of: end)
            // What stands in a link of /proc is a description and no path.
            if let real = SystemFile.realPath(of: folder), real.hasBytePrefix("/proc/") {
                return descriptor(String(decoding: end.utf8.dropFirst(folder.utf8.count), as: UTF8.self), in: real)
            }
            end = target.hasBytePrefix("/") ? target : folder + target
        }
        throw SystemFile.Failure(code: ELOOP)
    }

    private static func descriptor(_ name: String, in folder: String) -> FilePlace {
        guard let own = SystemFile.realPath(of: "/proc/self"), let number = Int32(name) else { return .special }
        let isOwn = folder.hasSameBytes(as: own + "/fd")
        let isOfThread = folder.hasBytePrefix(own + "/task/") && folder.hasByteSuffix("/fd")
        return isOwn || isOfThread ? .open(number) : .special
    }

    /// The part of a path before the last name, with its slash; empty for a name alone.
    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        return String(decoding: path.utf8[...slash], as: UTF8.self)
    }
}
