import CLibrary

/// The bytes that were written to a socket and that its peer has not acknowledged.
enum SendQueue {
    /// Returns their number (SIOCOUTQ, tcp(7)); 0 for a descriptor that is not such a socket.
    static func bytes(of descriptor: Int32) -> Int {
        var count: Int32 = 0
        return unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
    }
}
