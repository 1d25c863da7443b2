import Foundation
import Glibc

/// A TCP or Unix socket of the peer. This is the only file of the program that uses pointers.
struct PeerSocket: Sendable, Hashable {
    let descriptor: Int32

    /// Listens on all addresses, IPv4 and IPv6, because the trial uses many addresses of the loopback interface.
    static func listening(backlog: Int32 = 512) throws -> PeerSocket {
        let socket = PeerSocket(descriptor: Glibc.socket(AF_INET6, kind, 0))
        var (yes, no): (Int32, Int32) = (1, 0)
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(socket.descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
        setsockopt(socket.descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &no, size)
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
        guard status == 0, listen(socket.descriptor, backlog) == 0 else { throw PeerFailure("can't listen: \(errno)") }
        return socket
    }

    /// Listens at a path, or at an abstract name.
    static func listening(at name: String, isAbstract: Bool) throws -> PeerSocket {
        let socket = PeerSocket(descriptor: Glibc.socket(AF_UNIX, kind, 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = (isAbstract ? [0] : []) + Array(name.utf8)
        guard bytes.count < 100 else { throw PeerFailure("the name is too long: \(name)") }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(2 + bytes.count + (isAbstract ? 0 : 1))
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket.descriptor, $0, length) }
        }
        guard status == 0, listen(socket.descriptor, 64) == 0 else { throw PeerFailure("can't listen at \(name)") }
        return socket
    }

    /// Connects to a port on 127.0.0.1.
    static func connected(to port: UInt16) throws -> PeerSocket {
        let socket = PeerSocket(descriptor: Glibc.socket(AF_INET, kind, 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            socket.close()
            throw PeerFailure("can't connect to \(port)")
        }
        socket.sendAtOnce()
        return socket
    }

    private static let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

    /// Turns off Nagle's algorithm, so that small writes go out immediately.
    func sendAtOnce() {
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Returns the next connection; `nil` when the listener has ended.
    func accept() -> PeerSocket? {
        while true {
            let accepted = Glibc.accept(descriptor, nil, nil)
            if accepted >= 0 {
                _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
                let socket = PeerSocket(descriptor: accepted)
                socket.sendAtOnce()
                return socket
            }
            guard errno == EINTR || errno == ECONNABORTED else { return nil }
        }
    }

    /// Returns the address and the port of this end or of the peer.
    func name(ofPeer: Bool = false) -> (address: String, port: Int) {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                ofPeer ? getpeername(descriptor, $0, &length) : getsockname(descriptor, $0, &length)
            }
        }
        let family = Int32(address.sin6_family)
        guard status == 0, family == AF_INET6 || family == AF_INET else { return ("unix", 0) }
        let port = Int(UInt16(bigEndian: address.sin6_port))
        guard family == AF_INET6 else { return ("127.0.0.1", port) }
        let bytes = withUnsafeBytes(of: &address.sin6_addr) { Array($0) }
        if bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF {
            return (bytes[12...].map(String.init).joined(separator: "."), port)
        }
        return (bytes.last == 1 ? "::1" : "IPv6", port)
    }

    /// The result of a read.
    enum Input {
        case bytes([UInt8])
        case end
        case reset
        case nothing
    }

    /// Returns the next bytes, or `nothing` after `milliseconds`.
    func receive(milliseconds: Int32 = 20_000) -> Input {
        guard isReady(milliseconds: milliseconds) else { return .nothing }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 { return .bytes(Array(buffer[..<count])) }
            if count == 0 { return .end }
            guard errno == EINTR else { return .reset }
        }
    }

    /// Returns whether there is something to read, including the end.
    func isReady(milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    /// Sends all the bytes.
    /// - Returns: Whether the peer took them.
    @discardableResult
    func send(_ bytes: some Collection<UInt8>) -> Bool {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&entry, 1, 20_000) > 0 else { return false }
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count > 0 { sent += count } else if errno != EINTR { return false }
        }
        return true
    }

    /// Shuts down both directions, so that a thread that waits on the socket resumes.
    func interrupt() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Shuts down the sending direction.
    func finishSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Makes ``close()`` send RST.
    func resetOnClose() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }

    func close() { _ = Glibc.close(descriptor) }
}

/// The reason why the trial itself can't continue.
struct PeerFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Settings of the process.
enum ThisProcess {
    /// Sets an environment variable. Call it before there are other threads.
    static func set(_ name: String, _ value: String) { setenv(name, value, 1) }

    /// Ignores SIGPIPE, so that a client that disconnects does not end the process.
    static func ignorePipes() { _ = signal(SIGPIPE, SIG_IGN) }
}
