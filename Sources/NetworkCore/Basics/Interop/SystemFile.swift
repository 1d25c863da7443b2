import CLibrary
import FoundationEssentials

/// An open file. Interrupted calls are repeated, writes are completed, and every failure carries its `errno`.
struct SystemFile {
    /// A failed system call or a refused path, with its `errno`.
    struct Failure: Error, Equatable {
        let code: Int32
        /// The reason for a failure for which the system has no `errno` of its own.
        var reason: String?
        var message: String { unsafe reason ?? String(cString: strerror(code)) }
    }

    private let descriptor: Int32
    /// Whether the file is closed. The system soon reuses a descriptor, so it is closed only once, even after an error.
    private let isClosed = OneTimeFlag()

    /// - Parameter flags: The flags of open(2); `O_CLOEXEC` is added.
    init(opening path: String, _ flags: Int32, mode: mode_t = 0o666) throws(Failure) {
        try Self.check(path)
        var number = unsafe open(path, flags | O_CLOEXEC, mode)
        while number < 0, errno == EINTR { number = unsafe open(path, flags | O_CLOEXEC, mode) }
        guard number >= 0 else { throw Failure(code: errno) }
        descriptor = number
    }

    /// Opens a regular file for reading. Anything else is refused, because opening and reading it may wait without end.
    init(openingRegularFile path: String) throws(Failure) {
        // What is opened is what is checked: a path may lead to something else a moment later.
        try self.init(opening: path, O_RDONLY | O_NONBLOCK)
        do throws(Failure) {
            switch try status().st_mode & S_IFMT {
            case S_IFREG: return
            case S_IFDIR: throw Failure(code: EISDIR)
            default: throw Failure(code: EINVAL, reason: "it is not a regular file")
            }
        } catch {
            try? close()  // Only the first error is reported.
            throw error
        }
    }

    /// Duplicates the descriptor of an open file.
    init(duplicating number: Int32) throws(Failure) {
        descriptor = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw Failure(code: errno) }
    }

    /// Returns what the system knows of the file (fstat(2)).
    func status() throws(Failure) -> stat {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw Failure(code: errno) }
        return status
    }

    /// Returns what the system knows of the file at a path (stat(2)), or `nil` if there is none.
    static func status(of path: String) throws(Failure) -> stat? {
        try check(path)
        var status = stat()
        if unsafe stat(path, &status) == 0 { return status }
        guard errno == ENOENT else { throw Failure(code: errno) }
        return nil
    }

    /// Returns whether reading what is at a path may wait, or find no end.
    static func isPipeOrDevice(_ path: String) -> Bool {
        guard let kind = (try? status(of: path))?.st_mode else { return false }
        return ![S_IFREG, S_IFDIR].contains(kind & S_IFMT)
    }

    /// Returns whether a path leads to this file.
    func isNamed(_ path: String) throws(Failure) -> Bool {
        let (own, named) = (try status(), try Self.status(of: path))
        return named?.st_ino == own.st_ino && named?.st_dev == own.st_dev
    }

    /// Returns the target of a symbolic link, or `nil` if the path is something else or does not exist.
    static func target(of path: String) throws(Failure) -> String? {
        try check(path)
        let room = Int(PATH_MAX)
        var text = [CChar](repeating: 0, count: room)
        let count = unsafe readlink(path, &text, room)
        if count < 0 {
            if errno == EINVAL || errno == ENOENT { return nil }
            throw Failure(code: errno)
        }
        let bytes = text.prefix(count).map { UInt8(bitPattern: $0) }
        guard let target = String(validating: bytes, as: UTF8.self) else { throw Failure(code: EILSEQ) }
        return target
    }

    /// Returns a folder's path without symbolic links, for comparisons, or `nil` if the folder can't be found. An empty
    /// path is the working folder.
    static func realPath(of folder: String) -> String? {
        guard let path = unsafe realpath(folder.isEmpty ? "." : folder, nil) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// Takes the exclusive lock for which other downloads to the same place compete, without waiting for it.
    /// - Returns: Whether the lock was free.
    func lock() throws(Failure) -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { throw Failure(code: errno) }
        }
        return true
    }

    func write(_ bytes: Data) throws(Failure) {
        // A slice: removing bytes from the array would move all the others, after each partial write.
        var rest = [UInt8](bytes)[...]
        while !rest.isEmpty {
            let count = systemWrite(descriptor, rest)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw Failure(code: errno)
            }
        }
    }

    /// Reads the next chunk from the current offset; empty at the end of the file.
    /// - Parameter limit: The maximum length of the chunk, in bytes. Default: 256 KiB.
    func read(upTo limit: Int = 262_144) throws(Failure) -> Data {
        var piece = [UInt8](repeating: 0, count: limit)
        while true {
            let count = systemRead(descriptor, &piece, piece.count)
            if count >= 0 { return Data(piece.prefix(count)) }
            if errno != EINTR { throw Failure(code: errno) }
        }
    }

    /// Moves the current offset to the given number of bytes from the start.
    func seek(to offset: Int) throws(Failure) {
        if lseek(descriptor, off_t(offset), SEEK_SET) < 0 { throw Failure(code: errno) }
    }

    func truncate(to length: Int) throws(Failure) {
        if ftruncate(descriptor, off_t(length)) != 0 { throw Failure(code: errno) }
    }

    func setPermissions(_ mode: mode_t) throws(Failure) {
        if fchmod(descriptor, mode) != 0 { throw Failure(code: errno) }
    }

    /// Sets owner and group as far as the system allows it, or else the group alone: a process may be able to replace
    /// another user's file without being able to create one for that user.
    func setOwner(_ owner: uid_t, _ group: gid_t) {
        if fchown(descriptor, owner, group) != 0 { _ = fchown(descriptor, uid_t.max, group) }
    }

    /// Sets the group as far as the system allows it.
    /// - Returns: The file's group.
    func setGroup(_ group: gid_t) throws(Failure) -> gid_t {
        fchown(descriptor, uid_t.max, group) == 0 ? group : try status().st_gid
    }

    /// Returns once the contents are on the disk (fsync(2)).
    func sync() throws(Failure) {
        while fsync(descriptor) != 0 {
            if errno != EINTR { throw Failure(code: errno) }
        }
    }

    /// Closes the file. A second call does nothing, even after an error: Linux frees the descriptor in any case.
    func close() throws(Failure) {
        guard isClosed.raise() else { return }
        if systemClose(descriptor) != 0, errno != EINTR { throw Failure(code: errno) }
    }

    static func rename(_ path: String, to name: String) throws(Failure) {
        try check(path)
        try check(name)
        if systemRename(path, name) != 0 { throw Failure(code: errno) }
    }

    /// Makes a file that has all its bytes, on the disk, from its first moment on.
    /// - Returns: `false` if there is a file of that name; `nil` where the file system has no files without a name
    ///   ([open(2)](https://man7.org/linux/man-pages/man2/open.2.html), `O_TMPFILE`).
    static func make(
        _ path: String, in folder: String, of bytes: Data, mode: mode_t
    ) throws(Failure) -> Bool? {
        try check(path)
        let unnamed: Int32 = 0o20_000_000 | O_DIRECTORY
        guard let file = try? SystemFile(opening: folder.isEmpty ? "." : folder, O_WRONLY | unnamed, mode: mode) else {
            return nil
        }
        defer { try? file.close() }  // The disk has it.
        try file.write(bytes)
        try file.sync()
        let own = "/proc/self/fd/\(file.descriptor)"
        if unsafe linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 { return true }
        return errno == EEXIST ? false : nil
    }

    /// Deletes the file at a path, if there is one.
    static func remove(_ path: String) throws(Failure) {
        try check(path)
        if unsafe unlink(path) != 0, errno != ENOENT { throw Failure(code: errno) }
    }

    static var ownUser: uid_t { geteuid() }

    /// Refuses a path that contains a NUL, where the system would stop reading and use another file's name. Also
    /// refuses an empty path, which becomes a valid name when a suffix is appended to it.
    static func check(_ path: String) throws(Failure) {
        if path.isEmpty { throw Failure(code: ENOENT) }
        if path.utf8.contains(0) { throw Failure(code: EINVAL, reason: "the path contains a NUL") }
    }
}

// The methods above hide the system's names.
private func systemRead(_ number: Int32, _ buffer: inout [UInt8], _ count: Int) -> Int {
    unsafe read(number, &buffer, count)
}
private func systemWrite(_ number: Int32, _ bytes: ArraySlice<UInt8>) -> Int {
    unsafe bytes.withUnsafeBytes { unsafe write(number, $0.baseAddress, $0.count) }
}
private func systemClose(_ number: Int32) -> Int32 { close(number) }
private func systemRename(_ path: String, _ name: String) -> Int32 { unsafe rename(path, name) }
