import CLibrary
import FlyingSocks

/// A socket pool whose connections send at once.
///
/// The framework writes a response's head and body apart. With Nagle's algorithm the body then waits for the client to
/// acknowledge the head, which it delays: each response on a kept-alive connection would take 40 ms.
struct PromptSocketPool: AsyncSocketPool {
    private let base: any AsyncSocketPool

    init(_ base: some AsyncSocketPool) { self.base = base }

    func prepare() async throws { try await base.prepare() }

    func run() async throws { try await base.run() }

    /// Waits. The listening socket comes by here too before its first connection, and connections inherit the option.
    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        try socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
        try await base.suspendSocket(socket, untilReadyFor: events)
    }
}
