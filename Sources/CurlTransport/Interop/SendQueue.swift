import CLibrary

/// What a socket was given and its peer has not acknowledged.
enum SendQueue {
    /// Its bytes (SIOCOUTQ, tcp(7)); 0 for what is no such socket.
    static func bytes(of descriptor: Int32) -> Int {
        var count: Int32 = 0
        return unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
    }
}
