import Foundation
import TestSupport
import Testing

@testable import NetworkRecording

@Suite(.patience(minutes: 1))
struct ReplayListTests {
    /// A recording of a load test has one URL thousands of times.
    @Test(arguments: [false, true]) func `the cost of a request does not grow with those before it`(isRepeated: Bool) {
        let entry = Recording.Entry(request: .init(url: "http://h/a"))
        func work(_ count: Int) -> Duration {
            let recording = Recording(entries: Array(repeating: entry, count: isRepeated ? 1 : count))
            let empty = ReplayList(recording, repeatsLast: isRepeated)
            return cost(rounds: 3) {
                var list = empty
                let taken = (0..<count).count { _ in list.take(for: entry.request, where: { _ in true }) != nil }
                #expect(taken == count)
            }
        }
        let (small, large) = (work(500), work(8000))
        // Quadratic, it would be 256 times.
        #expect(large < small * 40, "\(small) and \(large)")
    }
}
