import CLibrary
import Foundation

/// A TCP socket on an IPv4 address of this machine. This is the only file of the module that uses pointers.
struct LoopbackSocket: Sendable {
    let descriptor: Int32

    /// Creates a socket that is bound to a port, 0 for a free one, and does not listen.
    static func bound(to port: UInt16 = 0, on host: String = loopback) throws -> LoopbackSocket {
        let socket = try make()
        var yes: Int32 = 1
        unsafe setsockopt(socket.descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let status = unsafe withAddress(host, port: port) { unsafe bind(socket.descriptor, $0, $1) }
        guard status == 0 else {
            defer { socket.close() }
            throw failure("listen on \(host):\(port)")
        }
        return socket
    }

    /// Creates a listening socket, whose connections take segments of at most that size: a receive buffer has sixteen.
    static func listening(
        on port: UInt16 = 0, of host: String = loopback, backlog: Int32 = 1024, segment: Int32? = nil
    ) throws -> LoopbackSocket {
        let socket = try bound(to: port, on: host)
        if var segment {
            let size = socklen_t(MemoryLayout<Int32>.size)
            guard unsafe setsockopt(socket.descriptor, Int32(IPPROTO_TCP), TCP_MAXSEG, &segment, size) == 0 else {
                defer { socket.close() }
                throw failure("take segments of \(segment) bytes")
            }
            segment *= 16
            unsafe setsockopt(socket.descriptor, SOL_SOCKET, SO_RCVBUF, &segment, size)
        }
        guard listen(socket.descriptor, backlog) == 0 else {
            defer { socket.close() }
            throw failure("listen on \(host):\(port)")
        }
        return socket
    }

    /// Creates a socket, and returns whether it connected within a limit in milliseconds.
    static func connecting(
        to port: UInt16, of host: String = loopback, limit: Int32
    ) throws -> (socket: LoopbackSocket, isConnected: Bool) {
        let socket = try make()
        let flags = fcntl(socket.descriptor, F_GETFL)
        _ = fcntl(socket.descriptor, F_SETFL, flags | O_NONBLOCK)
        let status = unsafe withAddress(host, port: port) { unsafe connect(socket.descriptor, $0, $1) }
        return (socket, status == 0 || socket.isReady(for: Int16(POLLOUT), limit: limit))
    }

    private static func make() throws -> LoopbackSocket {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #else
        let kind = SOCK_STREAM | SOCK_CLOEXEC
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw failure("make a socket") }
        return LoopbackSocket(descriptor: descriptor)
    }

    private static func failure(_ operation: String) -> SocketFailure {
        let code = errno
        return unsafe SocketFailure(operation: operation, code: code, message: String(cString: strerror(code)))
    }

    static let loopback = "127.0.0.1"

    /// Returns the outcome of a system call with an address; -1 with `EINVAL` for a host that is not an IPv4 address.
    private static func withAddress(
        _ host: String = loopback,
        port: UInt16,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard unsafe inet_pton(AF_INET, host, &address.sin_addr) == 1 else {
            errno = EINVAL
            return -1
        }
        return unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Returns the port that the socket is bound to.
    func localPort() throws -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
        }
        guard status == 0 else { throw Self.failure("read the port") }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Returns the next connection, with Nagle's algorithm off; `nil` when the listener has ended.
    func accept() -> LoopbackSocket? {
        while true {
            let accepted = CLibrary.accept(descriptor, nil, nil)
            if accepted >= 0 {
                // A child process that inherits the connection would keep it open.
                _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
                var yes: Int32 = 1
                unsafe setsockopt(accepted, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
                return LoopbackSocket(descriptor: accepted)
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            // Other code of the process may close some.
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: _ = CLibrary.poll(nil, 0, 10)
            default: return nil
            }
        }
    }

    /// Returns the next bytes, at most 64 KiB; `nil` if the peer has ended, or after ``longestWait``.
    func receive(upTo limit: Int = 65_536) -> Data? {
        var buffer = [UInt8](repeating: 0, count: min(limit, 65_536))
        while isReady(for: Int16(POLLIN), limit: Self.longestWait) {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 { return Data(buffer[..<count]) }
            guard count < 0, errno == EINTR else { return nil }
        }
        return nil
    }

    /// Sends all the bytes, and returns whether the peer took them.
    func send(_ bytes: Data) -> Bool {
        // A call that waits for room would wait without a limit.
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        return unsafe bytes.withUnsafeBytes { buffer in
            var sent = 0
            while sent < buffer.count {
                guard isReady(for: Int16(POLLOUT), limit: Self.longestWait) else { return false }
                let count = unsafe CLibrary.send(descriptor, buffer.baseAddress! + sent, buffer.count - sent, flags)
                if count > 0 {
                    sent += count
                } else if errno != EINTR, errno != EAGAIN {
                    return false
                }
            }
            return true
        }
    }

    /// The longest wait, in milliseconds: a script that no test stops ends by itself after a minute.
    static let longestWait: Int32 = 60_000
    static let input = Int16(POLLIN)

    /// Waits until the socket is ready for `events` or has failed, at most `limit` milliseconds.
    func isReady(for events: Int16, limit: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        while true {
            let status = unsafe poll(&entry, 1, limit)
            if status >= 0 { return status > 0 }
            guard errno == EINTR else { return false }
        }
    }

    /// Whether the peer has closed or reset the connection, whatever is unread.
    var isEndedByPeer: Bool {
        // POLLRDHUP, which is not imported. A reset (POLLERR, POLLHUP) is always looked for.
        var entry = pollfd(fd: descriptor, events: 0x2000, revents: 0)
        return unsafe poll(&entry, 1, 0) > 0
    }

    /// Shuts down the sending direction.
    func finishSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Shuts down both directions, so that every wait on the socket returns.
    func interrupt() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Makes ``close()`` send RST.
    func resetOnClose() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }

    func close() {
        _ = CLibrary.close(descriptor)
    }
}

/// A socket that could not be created: the failed step and the system's message.
public struct SocketFailure: Error, Sendable, CustomStringConvertible {
    /// The step that failed, such as `listen on 127.0.0.1:3000`.
    public let operation: String
    /// The system's `errno`; 0 if the step failed without one.
    public let code: Int32
    /// The system's message, such as `Address already in use`.
    public let message: String

    /// The step and the message, such as `can't listen on 127.0.0.1:3000: Address already in use`.
    public var description: String { "can't \(operation): \(message)" }
}
