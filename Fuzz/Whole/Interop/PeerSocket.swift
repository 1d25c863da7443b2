import CLibrary

/// A nonblocking TCP socket of the peer.
struct PeerSocket {
    enum Arrival {
        case bytes([UInt8])
        case nothing
        case end
    }

    let descriptor: Int32

    /// Returns a socket that listens on a free port of 127.0.0.`host`.
    static func listening(host: UInt32) -> (socket: PeerSocket, port: UInt16) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = (0x7F00_0000 + host).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) | listen(listener, 128) | getsockname(listener, pointer, &length)
            }
        }
        precondition(listener >= 0 && status == 0, "the peer can't listen: errno \(errno)")
        return (PeerSocket(descriptor: listener), UInt16(bigEndian: address.sin_port))
    }

    func accepted() -> PeerSocket? {
        let accepted = accept(descriptor, nil, nil)
        guard accepted >= 0 else { return nil }
        _ = fcntl(accepted, F_SETFL, O_NONBLOCK)
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        var yes: Int32 = 1
        setsockopt(accepted, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        return PeerSocket(descriptor: accepted)
    }

    func receive() -> Arrival {
        var isOver = false
        let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            let received = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            count = max(0, received)
            isOver = received == 0 || (received < 0 && errno != EAGAIN && errno != EINTR)
        }
        return isOver ? .end : bytes.isEmpty ? .nothing : .bytes(bytes)
    }

    /// Whether there are bytes to receive.
    var hasWaiting: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    /// Returns the number of bytes that the system accepted: 0 if its buffer is full; `nil` if the other side is gone.
    func send(_ bytes: ArraySlice<UInt8>) -> Int? {
        let flags = Int32(MSG_NOSIGNAL)
        let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
        if count >= 0 { return count }
        return errno == EAGAIN || errno == EINTR ? 0 : nil
    }

    func finishSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    func close(withReset: Bool = false) {
        if withReset {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        }
        _ = Glibc.close(descriptor)
    }

    /// Waits until at least one of the sockets is ready, or the time is over.
    /// - Returns: Which of them are ready; empty if none is.
    static func wait(for sockets: [(socket: PeerSocket, wantsToSend: Bool)], milliseconds: Int32) -> [Bool] {
        var entries = sockets.map {
            pollfd(fd: $0.socket.descriptor, events: Int16($0.wantsToSend ? POLLIN | POLLOUT : POLLIN), revents: 0)
        }
        guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return [] }
        return entries.map { $0.revents != 0 }
    }

    /// Lets the other side receive the bytes sent so far before more follow.
    static func pause() { usleep(60) }
}

/// A pipe that wakes the peer's thread.
struct PeerBell {
    /// The end for reading.
    let socket: PeerSocket
    private let rope: PeerSocket

    init() {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0, "the peer has no pipe: errno \(errno)")
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        (socket, rope) = (PeerSocket(descriptor: ends[0]), PeerSocket(descriptor: ends[1]))
    }

    func ring() {
        var byte: UInt8 = 0
        // A full pipe wakes the thread too.
        _ = write(rope.descriptor, &byte, 1)
    }

    func silence() {
        var bytes: (UInt64, UInt64) = (0, 0)
        while read(socket.descriptor, &bytes, 16) > 0 {}
    }
}
