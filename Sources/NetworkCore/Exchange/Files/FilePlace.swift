import CLibrary
import FoundationEssentials

/// The place that a path leads to, for data to be written there. One rule for all callers: a regular file is replaced
/// in its place, behind every symbolic link, even a link to a file that does not exist yet. Anything but a regular file
/// is never replaced.
enum FilePlace: Sendable {
    case file(path: String, existing: Attributes?)
    /// A device or a pipe, to be opened by the path as given.
    case special
    /// A descriptor that this process has open, such as `/dev/stdout`. Opening it by its path would write a file from
    /// its start.
    case open(Int32)

    struct Attributes: Sendable {
        let permissions: UInt32
        let owner: UInt32
        let group: UInt32

        /// Returns the part of permissions for this file's group that a file may have in its own group: members of
        /// another group are others to this file.
        func permissions(_ permissions: UInt32, inGroup group: UInt32) -> UInt32 {
            group == self.group ? permissions : permissions & (0o707 | permissions << 3)
        }
    }

    private static let maximumLinks = 40

    init(toWrite path: String) throws(NetworkError) { self = try Self.find(path) }

    private static func find(_ path: String) throws(NetworkError) -> FilePlace {
        // The system's own check comes first: it also refuses a link that must not be followed.
        let status = try SystemFile.status(of: path)
        if let status, status.st_mode & S_IFMT == S_IFDIR { throw .file(path, EISDIR) }
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
            // The content of a link in /proc is a description, not a path.
            if let real = SystemFile.realPath(of: folder), real.hasBytePrefix("/proc/") {
                return descriptor(String(decoding: end.utf8.dropFirst(folder.utf8.count), as: UTF8.self), in: real)
            }
            end = target.hasBytePrefix("/") ? target : folder + target
        }
        throw .file(path, ELOOP)
    }

    private static func descriptor(_ name: String, in folder: String) -> FilePlace {
        guard let own = SystemFile.realPath(of: "/proc/self"), let number = Int32(name) else { return .special }
        let isOwn = folder.hasSameBytes(as: own + "/fd")
        let isOfThread = folder.hasBytePrefix(own + "/task/") && folder.hasByteSuffix("/fd")
        return isOwn || isOfThread ? .open(number) : .special
    }

    /// Returns the part of a path before its last component, with the slash; empty for a name alone.
    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        return String(decoding: path.utf8[...slash], as: UTF8.self)
    }
}

/// Small text files: read up to a limit, written completely or not at all.
enum FileText {
    static func read(_ path: String, limit: Int) throws(NetworkError) -> Data {
        let text = try SystemFile.contents(of: path, upTo: limit)
        guard text.count <= limit else { throw .file(path, EFBIG, isToRead: true) }
        return text
    }

    /// Reads a file; returns `nil` if there is none, or a pipe or a device that ``write(_:to:)`` would write to.
    static func readIfPresent(_ path: String, limit: Int) throws(NetworkError) -> Data? {
        if SystemFile.isPipeOrDevice(path) { return nil }
        do { return try read(path, limit: limit) } catch {
            if error.errno == ENOENT { return nil }
            throw error
        }
    }

    /// Writes a file that only its owner may read. The file replaces an existing one once it is complete.
    static func write(_ text: Data, to path: String) throws {
        try FileSignals.blocking {
            switch try FilePlace(toWrite: path) {
            case .file(let path, _): try replace(path, by: text)
            case .special: try write(text, closing: try SystemFile(opening: path, O_WRONLY))
            case .open(let number): try write(text, closing: try SystemFile(duplicating: number))
            }
        }
    }

    private static func replace(_ path: String, by text: Data) throws(NetworkError) {
        // In the same folder, with a name that no file's name makes too long. The owner of the file that it replaces is
        // not passed on: another user may have put that file there.
        let draft = "\(FilePlace.folder(of: path)).\(UInt64.random(in: 0 ... .max)).tmp"
        let file = try SystemFile(opening: draft, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600, shown: path)
        do throws(NetworkError) {
            try write(text, closing: file)
            try SystemFile.rename(draft, to: path)
        } catch {
            try? SystemFile.remove(draft)  // Only the first error is reported.
            throw error
        }
    }

    private static func write(_ text: Data, closing file: SystemFile) throws(NetworkError) {
        let written = Result { () throws(NetworkError) in try file.write(text) }
        let closed = Result { () throws(NetworkError) in try file.close() }
        try written.get()
        try closed.get()
    }
}
