import Hummingbird
import NIOCore
import Synchronization

/// The context of a request to the shop: it knows the connection, to cancel the work for a client that has left.
struct ShopContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        (coreContext, channel) = (.init(source: source), source.channel)
    }

    /// Runs an operation, and cancels it when the client closes its connection.
    func whileConnected<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let watch = try await channel.pipeline.handler(type: ClientWatch.self).get()
        let task = Task(operation: operation)
        watch.watch { task.cancel() }
        defer { watch.watch(nil) }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

/// A handler of a connection that tells when its client has closed it. Hummingbird allows half-closed connections, so
/// that this alone does not end a request.
final class ClientWatch: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = NIOAny

    private struct State {
        var isGone = false
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Calls a closure when the client has gone, in place of the one before; at once if it has.
    func watch(_ cancel: (@Sendable () -> Void)?) {
        let isGone = state.withLock { state in
            state.cancel = cancel
            return state.isGone
        }
        if isGone { cancel?() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { tell() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        tell()
        context.fireChannelInactive()
    }

    private func tell() {
        let cancel = state.withLock { state in
            state.isGone = true
            return state.cancel
        }
        cancel?()
    }
}
