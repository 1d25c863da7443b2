import Testing

@testable import CurlTransport

@Suite("The share of data that one call may deliver")
struct CallShareTests {
    /// Counts chunks until one has to wait.
    private func pieces(
        _ share: inout CallShare, of bytes: Int, buffer: Int = 0, at place: (Int) -> Int = { _ in 0 }
    ) -> Int {
        var count = 0
        while !share.isSpent(by: bytes, at: place(count), of: buffer) { count += 1 }
        return count
    }

    @Test func `small pieces are counted`() {
        var share = CallShare()
        let small = pieces(&share, of: 1)
        #expect(small == 512)
        // A spent share stays spent.
        let waits = share.isSpent(by: 100_000, at: 0, of: 0)
        #expect(waits)
    }

    /// The first chunks never wait, however long they take: a call that delivers nothing would not advance its
    /// transfer.
    @Test func `the first pieces of a call never wait`() {
        for bytes in [1, 1_000, 16_384] {
            var share = CallShare()
            for _ in 0..<32 {
                let waits = share.isSpent(by: bytes, at: 0, of: 0)
                #expect(!waits)
            }
        }
    }

    /// The last chunk of a buffer is the one that waits, since libcurl copies the data that follows it.
    @Test func `large pieces end a load by time`() {
        let (base, piece, load) = (1 << 20, 16_384, 1 << 19)
        var share = CallShare()
        let count = pieces(&share, of: piece, buffer: load) { base + $0 * piece % load }
        #expect((count + 1) % (load / piece) == 0)
    }

    @Test func `a short piece is the last of its load`() {
        var share = CallShare()
        _ = pieces(&share, of: 1_000)
        #expect(share.isSpent)
    }

    /// A record decoder delivers each record from the same address.
    @Test func `where no load ends, a few more pieces come`() {
        var share = CallShare()
        let count = pieces(&share, of: 16_384, buffer: 1 << 19) { _ in 4_096 }
        #expect(count % 32 == 31)
    }

    @Test func `transfers over TLS begin fewer at once where they take long`() {
        var pace = BeginningPace()
        let start = MonotonicTime(nanoseconds: 0)
        func call(_ begun: Int, milliseconds: Int) {
            pace.note(begun, from: start, to: start.adding(milliseconds: milliseconds))
        }
        #expect(pace.count == 4)
        for expected in [8, 16, 16] {
            call(pace.count, milliseconds: 1)
            #expect(pace.count == expected)
        }
        for expected in [8, 4, 4] {
            call(pace.count, milliseconds: 20)
            #expect(pace.count == expected)
        }
        // A round that begins fewer transfers than allowed says nothing about the pace.
        call(2, milliseconds: 0)
        #expect(pace.count == 4)
    }
}
