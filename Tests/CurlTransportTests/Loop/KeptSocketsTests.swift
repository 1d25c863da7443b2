import Testing

@testable import CurlTransport

@Suite("Sockets of kept connections")
struct KeptSocketsTests {
    private var kept = KeptSockets()

    @Test mutating func aConnectionIsKnownByItsPortUntilItCloses() {
        kept.made(5, from: 1_000, serves: true)
        #expect(kept.use(from: 1_000, serves: true)?.descriptor == 5)
        #expect(kept.use(from: 1_001, serves: true) == nil)
        kept.closed(5)
        #expect(kept.use(from: 1_000, serves: true) == nil)
    }

    @Test mutating func aPortThatHasGoneToAnotherConnectionStaysThere() {
        kept.made(5, from: 1_000, serves: true)
        kept.spoil(from: 1_000)
        kept.made(6, from: 1_000, serves: true)
        kept.closed(5)
        #expect(kept.use(from: 1_000, serves: true) == .init(descriptor: 6, hasServed: true))
    }

    @Test mutating func aConnectionMadeAheadHasServedNobody() {
        kept.made(5, from: 1_000, serves: false)
        #expect(kept.use(from: 1_000, serves: false)?.hasServed == false)
        #expect(kept.use(from: 1_000, serves: true)?.hasServed == false)
        #expect(kept.use(from: 1_000, serves: true)?.hasServed == true)
    }

    @Test mutating func whatIsSpoiledStaysSo() {
        kept.spoil(from: 1_000)
        kept.made(5, from: 1_000, serves: true)
        #expect(kept.use(from: 1_000, serves: true)?.isSpoiled == false)
        kept.spoil(from: 1_000)
        for _ in 0..<2 { #expect(kept.use(from: 1_000, serves: true)?.isSpoiled == true) }
    }
}
