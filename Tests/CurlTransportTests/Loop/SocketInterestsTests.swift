import Testing

@testable import CurlTransport

@Suite("Interests registered with epoll")
struct SocketInterestsTests {
    private func changes(_ sockets: inout SocketInterests) -> [SocketInterests.Change] {
        var changes: [SocketInterests.Change] = []
        sockets.takeChanges { changes.append($0) }
        return changes
    }

    @Test func aNewDescriptorIsAddedBeforeTheWait() {
        var sockets = SocketInterests()
        sockets.opened(7)
        #expect(sockets.want(.write, of: 7) == nil)
        #expect(changes(&sockets) == [.init(kind: .add, descriptor: 7, interest: .write)])
        #expect(changes(&sockets).isEmpty)
    }

    @Test func removeAndReadOfAKeptConnectionCancelOut() {
        var sockets = SocketInterests()
        sockets.opened(7)
        _ = sockets.want(.read, of: 7)
        _ = changes(&sockets)
        _ = sockets.want([], of: 7)
        _ = sockets.want(.read, of: 7)
        #expect(changes(&sockets).isEmpty)
    }

    @Test func anotherInterestIsAModification() {
        var sockets = SocketInterests()
        sockets.opened(7)
        _ = sockets.want([.read, .write], of: 7)
        _ = changes(&sockets)
        _ = sockets.want(.read, of: 7)
        #expect(changes(&sockets) == [.init(kind: .modify, descriptor: 7, interest: .read)])
    }

    @Test func anUnwantedDescriptorIsDeletedAndNoLongerWanted() {
        var sockets = SocketInterests()
        sockets.opened(7)
        _ = sockets.want(.read, of: 7)
        _ = changes(&sockets)
        #expect(sockets.wants(7))
        _ = sockets.want([], of: 7)
        #expect(!sockets.wants(7))
        #expect(changes(&sockets) == [.init(kind: .delete, descriptor: 7, interest: [])])
    }

    @Test func aNumberThatComesBackAsAnotherDescriptorIsAddedAgain() {
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

    @Test func aDescriptorThatLibcurlOpenedItselfIsToldAtOnce() {
        var sockets = SocketInterests()
        #expect(sockets.want(.read, of: 9) == .init(kind: .add, descriptor: 9, interest: .read))
        #expect(sockets.want([], of: 9) == .init(kind: .delete, descriptor: 9, interest: []))
        #expect(sockets.want(.read, of: 9) == .init(kind: .add, descriptor: 9, interest: .read))
        #expect(changes(&sockets).isEmpty)
    }

    @Test func aDescriptorNeverSeenIsNotWanted() { #expect(!SocketInterests().wants(4096)) }
}
