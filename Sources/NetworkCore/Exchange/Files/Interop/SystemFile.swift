import CLibrary
package import FoundationEssentials

/// An open file. Interrupted calls are repeated, writes are completed, and every failure carries its `errno`. A file is
/// opened to be written, unless it says otherwise: that decides about the code of a failure.
struct SystemFile {
    private let path: String
    private let isToRead: Bool
    private let descriptor: Int32
    /// Whether the file is closed. The system soon reuses a descriptor, so it is closed only once, even after an error.
    private let isClosed = OneTimeFlag()

    init(
        opening path: String, _ flags: Int32, mode: mode_t = 0o666, shown name: String? = nil, isToRead: Bool = false
    ) throws(NetworkError) {
        (self.path, self.isToRead) = (name ?? path, isToRead)
        try Self.check(path, isToRead: isToRead)
        var number = unsafe open(path, flags | O_CLOEXEC, mode)
        while number < 0, errno == EINTR { number = unsafe open(path, flags | O_CLOEXEC, mode) }
        guard number >= 0 else { throw .file(name ?? path, errno, isToRead: isToRead) }
        descriptor = number
    }

    /// Opens a regular file for reading. Anything else is refused, because opening and reading it may wait without end.
    init(openingRegularFile path: String) throws(NetworkError) {
        // What is opened is what is checked: a path may lead to something else a moment later.
        try self.init(opening: path, O_RDONLY | O_NONBLOCK, isToRead: true)
        do throws(NetworkError) {
            switch try status().st_mode & S_IFMT {
            case S_IFREG: return
            case S_IFDIR: throw failure(EISDIR)
            default: throw failure(EINVAL, "it is not a regular file")
            }
        } catch {
            try? close()  // Only the first error is reported.
            throw error
        }
    }

    init(duplicating number: Int32) throws(NetworkError) {
        (path, isToRead) = ("/dev/fd/\(number)", false)
        descriptor = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw .file(path, errno) }
    }

    private func failure(_ number: Int32 = errno, _ reason: String? = nil) -> NetworkError {
        .file(path, number, reason, isToRead: isToRead)
    }

    func status() throws(NetworkError) -> stat {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure() }
        return status
    }

    /// Returns what the system knows of the file at a path (stat(2)), or `nil` if there is none.
    static func status(of path: String) throws(NetworkError) -> stat? {
        try check(path)
        var status = stat()
        if unsafe stat(path, &status) == 0 { return status }
        guard errno == ENOENT else { throw .file(path, errno) }
        return nil
    }

    /// Returns whether reading what is at a path may wait, or find no end.
    static func isPipeOrDevice(_ path: String) -> Bool {
        guard let kind = (try? status(of: path))?.st_mode else { return false }
        return ![S_IFREG, S_IFDIR].contains(kind & S_IFMT)
    }

    func isNamed(_ path: String) throws(NetworkError) -> Bool {
        // The system may have given the descriptor to another file since.
        if isClosed.isRaised { return false }
        let (own, named) = (try status(), try Self.status(of: path))
        return named?.st_ino == own.st_ino && named?.st_dev == own.st_dev
    }

    /// Returns the target of a symbolic link, or `nil` if the path is something else or does not exist.
    static func target(of path: String) throws(NetworkError) -> String? {
        try check(path)
        let room = Int(PATH_MAX)
        var text = [CChar](repeating: 0, count: room)
        let count = unsafe readlink(path, &text, room)
        if count < 0 {
            if errno == EINVAL || errno == ENOENT { return nil }
            throw .file(path, errno)
        }
        let bytes = text.prefix(count).map { UInt8(bitPattern: $0) }
        guard let target = String(validating: bytes, as: UTF8.self) else { throw .file(path, EILSEQ) }
        return target
    }

    /// Returns a folder's path without symbolic links, for comparisons, or `nil` if the folder can't be found.
    static func realPath(of folder: String) -> String? {
        guard let path = unsafe realpath(folder.isEmpty ? "." : folder, nil) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// Takes the exclusive lock for which other downloads to the same place compete, without waiting for it.
    func lock() throws(NetworkError) -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { throw failure() }
        }
        return true
    }

    func write(_ bytes: Data) throws(NetworkError) {
        // A slice: removing bytes from the array would move all the others, after each partial write.
        var rest = [UInt8](bytes)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe CLibrary.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw failure()
            }
        }
    }

    /// Reads the next chunk from the current offset; empty at the end of the file.
    func read(upTo limit: Int = 262_144) throws(NetworkError) -> Data {
        var piece = [UInt8](repeating: 0, count: limit)
        while true {
            let count = unsafe CLibrary.read(descriptor, &piece, piece.count)
            if count >= 0 { return Data(piece.prefix(count)) }
            if errno != EINTR { throw failure() }
        }
    }

    func seek(to offset: Int) throws(NetworkError) {
        if lseek(descriptor, off_t(offset), SEEK_SET) < 0 { throw failure() }
    }

    func truncate(to length: Int) throws(NetworkError) {
        if ftruncate(descriptor, off_t(length)) != 0 { throw failure() }
    }

    func setPermissions(_ mode: mode_t) throws(NetworkError) {
        if fchmod(descriptor, mode) != 0 { throw failure() }
    }

    /// Sets owner and group as far as the system allows it, or else the group alone: a process may be able to replace
    /// another user's file without being able to create one for that user.
    func setOwner(_ owner: uid_t, _ group: gid_t) {
        if fchown(descriptor, owner, group) != 0 { _ = fchown(descriptor, uid_t.max, group) }
    }

    /// Returns once the contents are on the disk (fsync(2)).
    func sync() throws(NetworkError) {
        while fsync(descriptor) != 0 {
            if errno != EINTR { throw failure() }
        }
    }

    /// Closes the file. A second call does nothing, even after an error: Linux frees the descriptor in any case.
    func close() throws(NetworkError) {
        guard isClosed.raise() else { return }
        if CLibrary.close(descriptor) != 0, errno != EINTR { throw failure() }
    }

    static func rename(_ path: String, to name: String) throws(NetworkError) {
        try check(path)
        try check(name)
        if unsafe CLibrary.rename(path, name) != 0 { throw .file(name, errno) }
    }

    static func remove(_ path: String) throws(NetworkError) {
        try check(path)
        if unsafe unlink(path) != 0, errno != ENOENT { throw .file(path, errno) }
    }

    static var ownUser: uid_t { geteuid() }

    /// Refuses a path that contains a NUL, where the system would stop reading and use another file's name.
    static func check(_ path: String, isToRead: Bool = false) throws(NetworkError) {
        if path.isEmpty { throw .file(path, ENOENT, isToRead: isToRead) }
        if path.utf8.contains(0) { throw .file(path, EINVAL, "the path contains a NUL", isToRead: isToRead) }
    }

    /// Returns the contents of a regular file; of one that is longer than the limit, at least one byte more than that.
    static func contents(of path: String, upTo limit: Int) throws(NetworkError) -> Data {
        let file = try SystemFile(openingRegularFile: path)
        // Nothing was written, so closing can't lose anything.
        defer { try? file.close() }
        var contents = Data()
        while contents.count <= limit, case let piece = try file.read(), !piece.isEmpty { contents.append(piece) }
        return contents
    }
}

extension NetworkError {
    static func file(_ path: String, _ number: Int32, _ reason: String? = nil, isToRead: Bool = false) -> NetworkError {
        if isToRead { return file(path, number, .unreadableFile, "can't be read", .preparing, reason) }
        let isFull = number == ENOSPC || number == EDQUOT
        return file(path, number, isFull ? .diskFull : .unwritableFile, "can't be written", .receiving, reason)
    }

    /// Returns the error for a file that can't be used, with its path without control characters.
    static func file(
        _ path: String, _ number: Int32, _ code: Code, _ problem: String, _ phase: Phase, _ reason: String? = nil
    ) -> NetworkError {
        let message = unsafe reason ?? String(cString: strerror(number))
        return NetworkError(
            code, "the file '\(Redaction.visible(path))' \(problem)", phase: phase,
            underlying: Underlying(domain: "errno", code: Int(number), message: message))
    }

    var errno: Int32? { underlying.flatMap { $0.domain == "errno" ? Int32($0.code) : nil } }
}

/// The signals by which the system ends a process that writes: SIGPIPE for a pipe without a reader, and SIGXFSZ for a
/// file beyond the process's limit (write(2)).
enum FileSignals {
    /// Runs `body` with both blocked on this thread, so that a write fails with its `errno` instead.
    static func blocking<Value, Failure>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        var (signals, earlier, mask) = (sigset_t(), sigset_t(), sigset_t())
        unsafe sigemptyset(&signals)
        unsafe sigpending(&earlier)
        // One that is pending already has another cause, and stays pending.
        for signal in [SIGPIPE, SIGXFSZ] where unsafe sigismember(&earlier, signal) == 0 {
            unsafe sigaddset(&signals, signal)
        }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, &mask)
        defer {
            var noTime = timespec()
            while unsafe sigtimedwait(&signals, nil, &noTime) > 0 || errno == EINTR {}
            unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
        }
        return try body()
    }
}

/// A file that only its owner may read and write. Each write goes to an offset.
package struct PrivateFile: Sendable {
    private let file: SystemFile
    private let path: String

    /// Creates a file with the permissions 0600, or empties an existing one and restricts it to them.
    package init(creating path: String, replaces: Bool) throws(NetworkError) {
        self.path = path
        file = try SystemFile(opening: path, O_RDWR | O_CREAT | (replaces ? 0 : O_EXCL), mode: 0o600)
        try takeOver()
    }

    /// Locks, empties and restricts a regular file. A device belongs to all users, and keeps its permissions.
    private func takeOver() throws(NetworkError) {
        do throws(NetworkError) {
            guard try file.status().st_mode & S_IFMT == S_IFREG else { return }
            // Some file systems have no locks (ENOLCK); then there is no second writer to keep out by one.
            guard (try? file.lock()) ?? true else { throw .file(path, EBUSY, "another recording is writing it") }
            try file.truncate(to: 0)
            try file.setPermissions(0o600)
        } catch {
            try? file.close()
            throw error
        }
    }

    package func write(_ bytes: Data, at offset: Int) throws(NetworkError) {
        try FileSignals.blocking { () throws(NetworkError) in
            try file.seek(to: offset)
            try file.write(bytes)
        }
    }

    package func truncate(to length: Int) throws(NetworkError) { try file.truncate(to: length) }

    package func close() throws(NetworkError) { try file.close() }

    /// Returns the contents of a regular file; of one that is longer than the limit, at least one byte more than that.
    package static func contents(of path: String, upTo limit: Int) throws(NetworkError) -> Data {
        try SystemFile.contents(of: path, upTo: limit)
    }
}
