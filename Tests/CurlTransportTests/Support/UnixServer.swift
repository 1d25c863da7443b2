import Foundation
import NetworkCore
import NetworkTesting
import Synchronization

/// A server on a Unix socket that responds to the first request of each connection with `unix` and keeps the connection
/// open. Pointers to socket addresses are confined to this file of the tests.
final class UnixServer: Sendable {
    private let descriptor: Int32
    private let path: String?
    private let received = Guarded("")
    private let connections = Guarded<[Int32]>([])

    init(_ name: String, isAbstract: Bool) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        path = isAbstract ? nil : name
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = (isAbstract ? [0] : []) + Array(name.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = MemoryLayout<sa_family_t>.size + bytes.count
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(length)) }
        }
        guard status == 0, listen(descriptor, 8) == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
        Thread.detachNewThread { [self] in
            while case let peer = accept(descriptor, nil, nil), peer >= 0 { answer(peer) }
        }
    }

    private func answer(_ peer: Int32) {
        connections.withLock { $0.append(peer) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(peer, &buffer, buffer.count, 0)
        received.withLock { $0 = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) }
        send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nunix", to: peer)
    }

    private func send(_ text: String, to peer: Int32) {
        let bytes = Array(text.utf8)
        _ = Foundation.send(peer, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Sends a text that belongs to no request over each connection.
    func sendSurplus(_ text: String) { connections.withLock(\.self).forEach { send(text, to: $0) } }

    var connectionCount: Int { connections.withLock(\.count) }

    var requestLine: String { received.withLock { $0.components(separatedBy: "\r\n")[0] } }

    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
        connections.withLock { $0.forEach { close($0) } }
        if let path { unlink(path) }
    }
}
