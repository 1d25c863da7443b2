import CLibrary

/// The bytes that have arrived at a socket and are not read yet.
enum ReceiveQueue {
    private static let peek = Int32(MSG_PEEK | MSG_DONTWAIT)

    /// Returns whether there is anything to read, even just the end (recv(2), MSG_PEEK).
    static func holdsAnything(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, peek) >= 0
    }

    /// Returns whether the peer has ended the connection, whatever bytes wait before that (poll(2), POLLRDHUP).
    static func hasEnded(_ descriptor: Int32) -> Bool {
        // Glibc declares POLLRDHUP (0x2000) for GNU sources alone.
        var entry = pollfd(fd: descriptor, events: 0x2000, revents: 0)
        return unsafe poll(&entry, 1, 0) == 1
    }

    /// Returns whether there are bytes.
    static func holdsBytes(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, peek) > 0
    }
}

/// The bytes that were written to a socket and that its peer has not acknowledged.
enum SendQueue {
    /// Returns their number (SIOCOUTQ, tcp(7)); 0 for a descriptor that is not such a socket.
    static func bytes(of descriptor: Int32) -> Int {
        var count: Int32 = 0
        return unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
    }
}
