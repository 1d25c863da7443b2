import Testing

@testable import NetworkCore

@Suite("The flow of a body")
struct BodyFlowTests {
    @Test func `a reader gets the held bytes, and waits without any`() {
        var flow = BodyFlow()
        #expect(flow.arrived(10, whenFull: .pause()) == .take)
        #expect(flow.read().reading == .everythingHeld)
        #expect(flow.held == 0)
        #expect(flow.read().reading == .wait)
        #expect(flow.roundEnded() == false)
        #expect(flow.arrived(5, whenFull: .pause()) == .take)
        #expect(flow.roundEnded() == true)
        #expect(flow.roundEnded() == false)
        #expect(flow.received == 15)
    }

    @Test func `a sender pauses above the high mark, and reading lets it go on`() {
        var flow = BodyFlow()
        #expect(flow.arrived(BodyFlow.highMark, whenFull: .pause()) == .take)
        #expect(flow.arrived(1, whenFull: .pause()) == .pause)
        #expect(flow.isPaused)
        let (reading, resumes) = flow.read()
        #expect(reading == .everythingHeld)
        #expect(resumes)
        #expect(!flow.isPaused)
        #expect(flow.read().resumesSender == false)
    }

    @Test func `a piece larger than the mark is taken when nothing is held`() {
        var flow = BodyFlow()
        #expect(flow.arrived(BodyFlow.highMark * 2, whenFull: .pause()) == .take)
    }

    @Test func `a sender that can't pause fails beyond its limit`() {
        var flow = BodyFlow()
        #expect(flow.arrived(BodyFlow.highMark, whenFull: .fail(limit: BodyFlow.highMark + 1)) == .take)
        #expect(
            flow.arrived(2, whenFull: .fail(limit: BodyFlow.highMark + 1)) == .tooLarge(limit: BodyFlow.highMark + 1))
        #expect(flow.arrived(1, whenFull: .fail(limit: BodyFlow.highMark + 1)) == .take)
    }

    @Test func `collecting never pauses, and keeps its limit`() {
        var flow = BodyFlow()
        #expect(flow.arrived(BodyFlow.highMark, whenFull: .pause()) == .take)
        #expect(flow.arrived(1, whenFull: .pause()) == .pause)
        let (reading, resumes, isTooLarge) = flow.collect(upTo: BodyFlow.highMark * 2)
        #expect(reading == .wait)
        #expect(resumes)
        #expect(!isTooLarge)
        #expect(flow.arrived(BodyFlow.highMark, whenFull: .pause()) == .take)
        #expect(flow.roundEnded() == false)
        #expect(flow.arrived(1, whenFull: .pause()) == .tooLarge(limit: BodyFlow.highMark * 2))
        flow.end()
        #expect(flow.roundEnded() == true)
    }

    @Test func `collecting less than the held bytes fails at once`() {
        var flow = BodyFlow()
        _ = flow.arrived(10, whenFull: .pause())
        #expect(flow.collect(upTo: 9).isTooLarge)
    }

    @Test func `a discarded body is dropped, and the transport is told once`() {
        var flow = BodyFlow()
        _ = flow.arrived(10, whenFull: .pause())
        #expect(flow.discard() == true)
        #expect(flow.discard() == false)
        #expect(flow.arrived(1_000_000, whenFull: .pause()) == .drop)
        var ended = BodyFlow()
        ended.end()
        #expect(ended.discard() == false)
    }

    @Test func `the end wakes a waiting reader, and is read after the held bytes`() {
        var flow = BodyFlow()
        #expect(flow.read().reading == .wait)
        flow.end()
        #expect(flow.roundEnded() == true)
        #expect(flow.read().reading == .atEnd)
        var full = BodyFlow()
        _ = full.arrived(1, whenFull: .pause())
        full.end()
        #expect(full.read().reading == .everythingHeld)
        #expect(full.read().reading == .atEnd)
    }
}
