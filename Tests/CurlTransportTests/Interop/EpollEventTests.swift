import Testing

@testable import CurlTransport

@Suite("Events from epoll")
struct EpollEventTests {
    /// EPOLLIN, EPOLLOUT, EPOLLERR and EPOLLHUP (epoll_ctl(2)).
    @Test(
        arguments: [
            (0x01, [true, false, false]), (0x04, [false, true, false]), (0x10, [true, false, false]),
            (0x08, [true, false, true]), (0x0C, [true, true, true]), (0x19, [true, false, true]),
            (0, [false, false, false]),
        ] as [(UInt32, [Bool])])
    func `an error and an end are there to be read`(flags: UInt32, expected: [Bool]) {
        let event = Epoll.Event(descriptor: 3, flags: flags)
        #expect([event.isReadable, event.isWritable, event.hasError] == expected)
        #expect(event.descriptor == 3)
    }
}
