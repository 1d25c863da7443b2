import CLibrary
import FoundationEssentials

/// An open file, written whole: interrupted calls are repeated, and every failure has its `errno`.
struct SystemFile {
    /// An `errno`.
    struct Failure: Error, Equatable {
        let code: Int32
        /// What the system has no number of its own for.
        var reason: String?
        var message: String { unsafe reason ?? String(cString: strerror(code)) }
    }

    private let descriptor: Int32
    /// The number of a closed file is soon another file's, so it is closed once, whatever comes of it.
    private let isClosed = OneTimeFlag()

    /// - Parameter flags: O_CLOEXEC comes by itself.
    init(opening path: String, _ flags: Int32, mode: mode_t = 0o666) throws(Failure) {
        try Self.check(path)
        var number = unsafe open(path, flags | O_CLOEXEC, mode)
        while number < 0, errno == EINTR { number = unsafe open(path, flags | O_CLOEXEC, mode) }
        guard number >= 0 else { throw Failure(code: errno) }
        descriptor = number
    }

    /// The same open file under another number.
    init(duplicating number: Int32) throws(Failure) {
        descriptor = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw Failure(code: errno) }
    }

    /// What the system knows of it.
    func status() throws(Failure) -> stat {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw Failure(code: errno) }
        return status
    }

    /// What the system knows of a path; `nil` if there is nothing.
    static func status(of path: String) throws(Failure) -> stat? {
        try check(path)
        var status = stat()
        if unsafe stat(path, &status) == 0 { return status }
        guard errno == ENOENT else { throw Failure(code: errno) }
        return nil
    }

    /// What stands in a symbolic link; `nil` for anything else, and for nothing.
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

    /// A folder's path without links, for comparing; `nil` for one that can't be found. Empty is the working folder.
    static func realPath(of folder: String) -> String? {
        guard let path = unsafe realpath(folder.isEmpty ? "." : folder, nil) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// Takes the lock that other downloads to the same place want too.
    /// - Returns: Whether it was free.
    func lock() throws(Failure) -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { throw Failure(code: errno) }
        }
        return true
    }

    func write(_ bytes: Data) throws(Failure) {
        var rest = [UInt8](bytes)
        while !rest.isEmpty {
            let count = systemWrite(descriptor, rest, rest.count)
            if count == rest.count { return }
            if count >= 0 {
                rest.removeFirst(count)
            } else if errno != EINTR {
                throw Failure(code: errno)
            }
        }
    }

    /// The next piece from where the file stands; empty at its end.
    /// - Parameter limit: Its most bytes.
    func read(upTo limit: Int = 262_144) throws(Failure) -> Data {
        var piece = [UInt8](repeating: 0, count: limit)
        while true {
            let count = systemRead(descriptor, &piece, piece.count)
            if count >= 0 { return Data(piece.prefix(count)) }
            if errno != EINTR { throw Failure(code: errno) }
        }
    }

    /// Stands at an offset from now on.
    func seek(to offset: Int) throws(Failure) {
        if lseek(descriptor, off_t(offset), SEEK_SET) < 0 { throw Failure(code: errno) }
    }

    func truncate(to length: Int) throws(Failure) {
        if ftruncate(descriptor, off_t(length)) != 0 { throw Failure(code: errno) }
    }

    func setPermissions(_ mode: mode_t) throws(Failure) {
        if fchmod(descriptor, mode) != 0 { throw Failure(code: errno) }
    }

    /// Gives it owner and group, as far as the system allows it: another user's file may be replaced by those who can't
    /// make one.
    func setOwner(_ owner: uid_t, _ group: gid_t) {
        if fchown(descriptor, owner, group) != 0 { _ = fchown(descriptor, uid_t.max, group) }
    }

    /// Returns when the disk has it.
    func sync() throws(Failure) {
        while fsync(descriptor) != 0 {
            if errno != EINTR { throw Failure(code: errno) }
        }
    }

    /// Closes it. Again is nothing, also after an error: Linux frees the descriptor all the same.
    func close() throws(Failure) {
        guard isClosed.raise() else { return }
        if systemClose(descriptor) != 0, errno != EINTR { throw Failure(code: errno) }
    }

    static func rename(_ path: String, to name: String) throws(Failure) {
        try check(path)
        try check(name)
        if systemRename(path, name) != 0 { throw Failure(code: errno) }
    }

    /// Deletes a file, if it is there.
    static func remove(_ path: String) throws(Failure) {
        try check(path)
        if unsafe unlink(path) != 0, errno != ENOENT { throw Failure(code: errno) }
    }

    static var ownUser: uid_t { geteuid() }

    /// Refuses a path with NUL, which the system would read up to there: as the name of another file. And an empty one,
    /// which with something behind it would be a name.
    static func check(_ path: String) throws(Failure) {
        if path.isEmpty { throw Failure(code: ENOENT) }
        if path.utf8.contains(0) { throw Failure(code: EINVAL, reason: "the path has a NUL") }
    }
}

// The methods above hide the system's names.
private func systemRead(_ number: Int32, _ buffer: inout [UInt8], _ count: Int) -> Int {
    unsafe read(number, &buffer, count)
}
private func systemWrite(_ number: Int32, _ bytes: [UInt8], _ count: Int) -> Int { unsafe write(number, bytes, count) }
private func systemClose(_ number: Int32) -> Int32 { close(number) }
private func systemRename(_ path: String, _ name: String) -> Int32 { unsafe rename(path, name) }
