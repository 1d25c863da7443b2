import CLibrary
import FlyingSocks

/// A socket pool whose connections send without Nagle's delay.
///
/// FlyingFox writes the head and the body of a response separately. With Nagle's algorithm the body then waits until
/// the client acknowledges the head, and the client delays that: each response on a reused connection would take 40 ms.
struct PromptSocketPool: AsyncSocketPool {
    private let base: any AsyncSocketPool

    init(_ base: some AsyncSocketPool) { self.base = base }

    func prepare() async throws { try await base.prepare() }

    func run() async throws { try await base.run() }

    /// Waits for events. The listening socket passes here first, and its connections inherit the option.
    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        try socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
        try await base.suspendSocket(socket, untilReadyFor: events)
    }
}
