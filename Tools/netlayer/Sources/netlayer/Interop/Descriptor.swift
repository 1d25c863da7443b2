import Foundation

/// A file descriptor. Reads and writes repeat interrupted calls, and wait for a descriptor that does not block.
struct Descriptor: Sendable {
    let number: Int32

    static let standardInput = Descriptor(number: 0)
    static let standardOutput = Descriptor(number: 1)
    static let standardError = Descriptor(number: 2)

    /// The most bytes that one ``read()`` returns.
    static let chunkBytes = 65_536

    var isTerminal: Bool { isatty(number) == 1 }

    /// The width of the terminal, in columns; `nil` where it is not known.
    var columns: Int? {
        var size = winsize()
        guard unsafe ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 1 else { return nil }
        return Int(size.ws_col)
    }

    /// Returns the available bytes, and waits for them if necessary; empty at the end.
    func read() throws(SystemFailure) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: Self.chunkBytes)
        while true {
            let count = systemRead(number, &buffer, buffer.count)
            if count >= 0 { return Array(buffer.prefix(count)) }
            try wait(for: POLLIN)
        }
    }

    func write(_ bytes: some Sequence<UInt8>) throws(SystemFailure) {
        // A slice: removing bytes from the array would move all the others, after each partial write.
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = systemWrite(number, rest)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else {
                try wait(for: POLLOUT)
            }
        }
    }

    /// Closes the descriptor, and reports errors that the system delayed until now, such as a full disk over NFS.
    func close() throws(SystemFailure) {
        if systemClose(number) != 0, errno != EINTR { throw SystemFailure(errno) }
    }

    /// Opens a file, with O_CLOEXEC in addition to `flags`.
    static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(SystemFailure) -> Descriptor {
        let number = systemOpen(path, flags | O_CLOEXEC, mode)
        guard number >= 0 else { throw SystemFailure(errno) }
        return Descriptor(number: number)
    }

    func setPermissions(_ mode: mode_t) throws(SystemFailure) {
        if fchmod(number, mode) != 0 { throw SystemFailure(errno) }
    }

    /// Sets the owner and the group; only the group if the system refuses the owner.
    func setOwner(_ owner: uid_t, _ group: gid_t) {
        if fchown(number, owner, group) != 0 { _ = fchown(number, uid_t.max, group) }
    }

    func group() throws(SystemFailure) -> gid_t {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { throw SystemFailure(errno) }
        return status.st_gid
    }

    static func duplicate(_ number: Int32) throws(SystemFailure) -> Descriptor {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw SystemFailure(errno) }
        return Descriptor(number: copy)
    }

    /// Writes a short text if that does not block; otherwise does nothing.
    func writeIfReady(_ text: String) {
        let bytes = Array(text.utf8)
        var entry = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        guard !bytes.isEmpty, unsafe poll(&entry, 1, 0) == 1, Int32(entry.revents) & Int32(POLLOUT) != 0 else { return }
        _ = systemWrite(number, bytes[...])
    }

    /// Checks that this process may write to the file at a path.
    static func checkWritable(_ path: String) throws(SystemFailure) {
        if unsafe access(path, W_OK) != 0 { throw SystemFailure(errno) }
    }

    static func rename(_ path: String, to name: String) throws(SystemFailure) {
        if systemRename(path, name) != 0 { throw SystemFailure(errno) }
    }

    /// Deletes a file. A failure is ignored.
    static func remove(_ path: String) { unsafe unlink(path) }

    /// Waits after EAGAIN, returns after EINTR, and throws any other `errno`.
    private func wait(for events: Int) throws(SystemFailure) {
        let code = errno
        if code == EINTR { return }
        guard code == EAGAIN || code == EWOULDBLOCK else { throw SystemFailure(code) }
        var entry = pollfd(fd: number, events: Int16(events), revents: 0)
        if unsafe poll(&entry, 1, -1) < 0, errno != EINTR { throw SystemFailure(errno) }
    }

    private func wait(for events: Int32) throws(SystemFailure) { try wait(for: Int(events)) }

    /// Opens `/dev/null` in place of standard input, output or error if the parent process closed it. Otherwise the
    /// next socket would get that number, and output would go into it. The direction is the wrong one, so that any use
    /// is an error.
    static func occupyStandardNumbers() {
        for number: Int32 in 0...2 where fcntl(number, F_GETFD) == -1 {
            _ = systemOpen("/dev/null", number == 0 ? O_WRONLY : O_RDONLY, 0)
        }
    }
}

/// A system error, as its `errno`.
struct SystemFailure: Error, Equatable {
    let code: Int32

    init(_ code: Int32) { self.code = code }

    /// Whether the reader of a pipe has closed it.
    var isClosedPipe: Bool { code == EPIPE }

    var message: String { unsafe String(cString: strerror(code)) }
}

// The methods above shadow the system's functions.
private func systemRead(_ number: Int32, _ buffer: inout [UInt8], _ count: Int) -> Int {
    unsafe read(number, &buffer, count)
}
private func systemWrite(_ number: Int32, _ bytes: ArraySlice<UInt8>) -> Int {
    unsafe bytes.withUnsafeBytes { unsafe write(number, $0.baseAddress, $0.count) }
}
private func systemClose(_ number: Int32) -> Int32 { close(number) }
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { unsafe open(path, flags, mode) }
private func systemRename(_ path: String, _ name: String) -> Int32 { unsafe rename(path, name) }
