import Foundation
import NetworkComparison
import Testing
import ToolSupport

@testable import netlayer

/// What an arm keeps of responses, and what the comparison learns of them.
@Suite(.patience(minutes: 1)) struct ResponseMemoryTests {
    @Test func `a response without room keeps its status and its error`() {
        var (memory, tally) = (ResponseMemory(), ContentTally())
        func add(_ make: (inout RecordedResponse) -> Void) {
            var response = RecordedResponse()
            make(&response)
            let (number, new) = memory.number(of: response)
            if let new { tally.learn(new, as: number) }
            tally.count(number)
        }
        for number in 0..<12 {
            add {
                $0.status = 200; $0.body = Data("\(number)".utf8) + Data(count: 1 << 20)
            }
        }
        add { $0.status = 500 }
        for _ in 0..<3 {
            add {
                $0.errorCode = "connectionLost"; $0.errorText = "port \(Int.random(in: 1...9))"
            }
        }
        #expect(tally.outcomes.statuses == [200: 12, 500: 1] && tally.outcomes.errors == ["connectionLost": 3])
        #expect(tally.notCompared == 5 && tally.count == 16)
    }

    @Test func `a body that several responses have is kept once`() throws {
        var (memory, tally) = (ResponseMemory(), ContentTally())
        func add(_ body: Data, _ id: String) -> RecordedResponse? {
            var response = RecordedResponse()
            response.status = 200
            response.fields = [.init("X-ID", id), .init("Date", "\(Int.random(in: 0...9))")]
            response.setBody(body)
            let (number, new) = memory.number(of: response)
            if let new { tally.learn(new, as: number) }
            tally.count(number)
            return new
        }
        let body = Data(count: 1 << 20)
        #expect(add(body, "0")?.body == body)
        #expect(add(body, "0") == nil)
        for number in 1...20 {
            let new = try #require(add(body, "\(number)"))
            #expect(new.body.isEmpty && new.bodyOf == 0)
        }
        // An empty body is none of a large one, which is known by its digest.
        #expect(add(Data(), "0") != nil)
        #expect(try #require(add(Data(count: 2 << 20), "0")).bodyOf == nil)
        #expect(add(Data(count: 2 << 20), "0") == nil)
        #expect(tally.notCompared == 0 && tally.count == 25)
    }

    /// Regression: `Data` hashes its start alone, and each response was compared with all that begin alike.
    @Test func `responses that begin alike are told apart at little cost`() {
        func responses(same: Int) -> [RecordedResponse] {
            (0..<3_000).map { number in
                var response = RecordedResponse()
                let start = Data(repeating: 0x61, count: same)
                response.body = start + Data("\(number + 1_000_000)".utf8) + Data(repeating: 0x61, count: 200 - same)
                return response
            }
        }
        let (early, late) = (responses(same: 0), responses(same: 200))
        var counts: Set<Int> = []
        func number(_ responses: [RecordedResponse]) {
            var memory = ResponseMemory()
            counts.insert(Set(responses.map { memory.number(of: $0).number }).count)
        }
        let most = cost(rounds: 2) { number(early) }
        let isLinear = !costsMore(than: most * 5) { number(late) }
        #expect(isLinear && counts == [3_000])
    }
}
