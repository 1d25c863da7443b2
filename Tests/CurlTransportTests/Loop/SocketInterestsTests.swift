import Testing

@testable import CurlTransport

@Suite("Interests registered with epoll")
struct SocketInterestsTests {
    private func changes(_ sockets: inout SocketInterests) -> [SocketInterests.Change] {
        var changes: [SocketInterests.Change] = []
        sockets.takeChanges { changes.append($0) }
        return changes
    }

    @Test func `a new descriptor is added before the wait`() {
        var sockets = SocketInterests()
        sockets.opened(7)
        #expect(sockets.want(.write, of: 7) == nil)
        #expect(changes(&sockets) == [.init(kind: .add, descriptor: 7, interest: .write)])
        #expect(changes(&sockets).isEmpty)
    }

    @Test func `a removal and a read of a kept connection cancel out`() {
        var sockets = SocketInterests()
        sockets.opened(7)
        _ = sockets.want(.read, of: 7)
        _ = changes(&sockets)
        _ = sockets.want([], of: 7)
        _ = sockets.want(.read, of: 7)
        #expect(changes(&sockets).isEmpty)
    }

    @Test func `another interest is a modification`() {
        var sockets = SocketInterests()
        sockets.opened(7)
        _ = sockets.want([.read, .write], of: 7)
        _ = changes(&sockets)
        _ = sockets.want(.read, of: 7)
        #expect(changes(&sockets) == [.init(kind: .modify, descriptor: 7, interest: .read)])
    }

    @Test func `an unwanted descriptor is deleted and no longer wanted`() {
        var sockets = SocketInterests()
        sockets.opened(7)
        _ = sockets.want(.read, of: 7)
        _ = changes(&sockets)
        #expect((sockets.pool(wanting: 7) != nil))
        _ = sockets.want([], of: 7)
        #expect(!(sockets.pool(wanting: 7) != nil))
        #expect(changes(&sockets) == [.init(kind: .delete, descriptor: 7, interest: [])])
    }

    @Test func `a number that comes back as another descriptor is added again`() {
        var sockets = SocketInterests()
        sockets.opened(7)
        _ = sockets.want(.read, of: 7)
        _ = changes(&sockets)
        _ = sockets.want([], of: 7)
        sockets.closed(7)
        sockets.opened(7)
        _ = sockets.want(.read, of: 7)
        #expect(changes(&sockets) == [.init(kind: .add, descriptor: 7, interest: .read)])
    }

    @Test func `a descriptor that libcurl opened itself is told at once`() {
        var sockets = SocketInterests()
        #expect(sockets.want(.read, of: 9) == .init(kind: .add, descriptor: 9, interest: .read))
        #expect(sockets.want([], of: 9) == .init(kind: .delete, descriptor: 9, interest: []))
        #expect(sockets.want(.read, of: 9) == .init(kind: .add, descriptor: 9, interest: .read))
        #expect(changes(&sockets).isEmpty)
    }

    @Test func `a descriptor never seen is not wanted`() { #expect(SocketInterests().pool(wanting: 4096) == nil) }
}
