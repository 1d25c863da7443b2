import NetworkCore
import Testing

@testable import CurlTransport

@Suite("Sockets of kept connections")
struct KeptSocketsTests {
    private var kept = KeptSockets()
    private let place = KeptSockets.Place.port(1_000)

    @Test mutating func `a connection is known by its place until it closes`() {
        kept.made(5, from: place, serves: true)
        #expect(kept.use(from: place, serves: true).map(\.descriptor) == [5])
        #expect(kept.use(from: .port(1_001), serves: true).isEmpty)
        #expect(kept.use(from: .unix(.path("/a")), serves: true).isEmpty)
        kept.closed(5)
        #expect(kept.use(from: place, serves: true).isEmpty)
    }

    @Test(arguments: [KeptSockets.Place.port(1_000), .unix(.path("/run/a"))])
    mutating func `connections of one place are all of them`(place: KeptSockets.Place) {
        kept.made(5, from: place, serves: true)
        kept.made(6, from: place, serves: false)
        #expect(kept.use(from: place, serves: false).map(\.hasServed) == [true, false])
        kept.closed(5)
        #expect(kept.use(from: place, serves: true).map(\.descriptor) == [6])
    }

    @Test mutating func `a descriptor that comes back is another connection`() {
        kept.made(5, from: place, serves: true)
        kept.made(5, from: .port(1_001), serves: true)
        #expect(kept.use(from: place, serves: true).isEmpty)
        #expect(kept.use(from: .port(1_001), serves: true) == [.init(descriptor: 5, hasServed: true)])
    }

    @Test mutating func `a connection made ahead has served no request`() {
        kept.made(5, from: place, serves: false)
        #expect(kept.use(from: place, serves: false).map(\.hasServed) == [false])
        #expect(kept.use(from: place, serves: true).map(\.hasServed) == [false])
        #expect(kept.use(from: place, serves: true).map(\.hasServed) == [true])
    }
}
