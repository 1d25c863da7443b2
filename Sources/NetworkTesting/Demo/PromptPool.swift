import FlyingSocks

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Turns Nagle's algorithm off on the socket that listens; those that it accepts inherit that.
///
/// A response's head and body are written apart. With the algorithm on, the body waits for the client's acknowledgement
/// of the head, which comes up to 40 ms late.
struct PromptPool: AsyncSocketPool {
    private let pool: any AsyncSocketPool

    init(_ pool: any AsyncSocketPool) { self.pool = pool }

    func prepare() async throws { try await pool.prepare() }

    func run() async throws { try await pool.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        try socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
        try await pool.suspendSocket(socket, untilReadyFor: events)
    }
}
