import Foundation
import Synchronization

/// The peer of all requests of a process: several origins, a proxy of each kind, and a name service. Every port serves
/// all of them.
///
/// The request's path, `/OUTCOME/sSTEP/KIND`, selects the behavior, so the peer needs no state.
final class Peer: Sendable {
    let log = PeerLog()
    let one: UInt16
    let two: UInt16
    /// The port of all proxies. The first byte of a connection selects the kind.
    let proxy: UInt16
    /// The port that accepts connections and sends nothing.
    let silent: UInt16
    let unixPath: String
    let abstractName: String
    /// The port of the program that speaks TLS for the peer.
    let front: UInt16
    private let listeners: [PeerSocket]
    /// Held from the acceptance of a connection until the log has it.
    private let accepting = Mutex(())
    /// The ways of connections that go through the front, by their local port.
    private let ways = Mutex<[Int: (way: [String], connection: Int)]>([:])

    init(front: UInt16, folder: String) throws {
        let sockets = try (0..<4).map { _ in try PeerSocket.listening() }
        let ports = sockets.map { UInt16($0.name().port) }
        (one, two, proxy, silent) = (ports[0], ports[1], ports[2], ports[3])
        self.front = front
        unixPath = folder + "/peer-\(getpid()).sock"
        abstractName = "isolation-\(getpid())"
        try? FileManager.default.removeItem(atPath: unixPath)
        let locals = try [
            PeerSocket.listening(at: unixPath, isAbstract: false),
            PeerSocket.listening(at: abstractName, isAbstract: true),
        ]
        let names = ["one", "two", "proxy", "silent", "unix", "abstract"]
        listeners = sockets + locals
        for (name, socket) in zip(names, listeners) {
            Thread.detachNewThread { [self] in
                while socket.isReady(milliseconds: -1), let (accepted, way, number) = accept(from: socket, name) {
                    serve(accepted, from: name, way, number)
                }
            }
        }
    }

    /// Accepts a connection that waits, and logs it: ``hasWaitingConnections`` sees neither half of that.
    private func accept(from socket: PeerSocket, _ name: String) -> (PeerSocket, way: String, number: Int)? {
        accepting.withLock { _ in
            guard let accepted = socket.accept() else { return nil }
            let way = "\(name) \(accepted.name().address)"
            return (accepted, way, log.open(way))
        }
    }

    /// Whether there are connections that the peer has not accepted: they are not in the log yet.
    var hasWaitingConnections: Bool { accepting.withLock { _ in listeners.contains { $0.isReady(milliseconds: 0) } } }

    private func serve(_ socket: PeerSocket, from listener: String, _ way: String, _ number: Int) {
        Thread.detachNewThread { [self] in
            let connection = PeerConnection(socket, number: number, way: [way], peer: self)
            if listener == "silent" { connection.beSilent() } else { connection.run() }
            socket.close()
            // Only now, because the other side may see the end from here on.
            log.close(connection.number)
        }
    }

    func remember(_ way: [String], of connection: Int, from port: Int) {
        ways.withLock { $0[port] = (way, connection) }
    }

    func way(from port: Int) -> (way: [String], connection: Int)? { ways.withLock { $0.removeValue(forKey: port) } }
}
