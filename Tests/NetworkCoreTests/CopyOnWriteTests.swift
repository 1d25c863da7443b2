import Testing

@testable import NetworkCore

@Suite struct CopyOnWriteTests {
    private struct Stopped: Error {}

    @Test func `changing a copy leaves the others unchanged`() {
        let first = CopyOnWrite([1])
        var second = first
        second.value.append(2)
        var third = second
        third.value = []
        #expect(first.value == [1] && second.value == [1, 2] && third.value.isEmpty)
    }

    @Test func `a value without other copies is changed in place`() {
        var one = CopyOnWrite([1])
        let storage = ObjectIdentifier(one.storage)
        one.value.append(2)
        #expect(ObjectIdentifier(one.storage) == storage)
        let other = one
        one.value.append(3)
        #expect(ObjectIdentifier(one.storage) != storage && ObjectIdentifier(other.storage) == storage)
    }

    @Test func `a change that throws halfway affects only its copy`() {
        func append(to array: inout [Int]) throws {
            array.append(2)
            throw Stopped()
        }
        let first = CopyOnWrite([1])
        var second = first
        #expect(throws: Stopped.self) { try append(to: &second.value) }
        #expect(first.value == [1] && second.value == [1, 2])
    }

    /// Also a test for ThreadSanitizer.
    @Test func `many tasks change and read copies at once`() async {
        let first = CopyOnWrite(Array(0..<10))
        let sums = await withTaskGroup(of: Int.self) { group in
            for number in 0..<100 {
                group.addTask {
                    var copy = first
                    for _ in 0..<100 { copy.value[0] += number }
                    return copy.value.reduce(0, +) + first.value.reduce(0, +)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sums.sorted() == (0..<100).map { 90 + 100 * $0 })
    }

    @Test func `a printed request shows its values, and a changed copy is independent`() throws {
        let first = TransportRequest(url: try RequestURL("http://localhost/first"))
        var second = first
        second.url = try RequestURL("http://localhost/second")
        #expect("\(first)".contains("/first") && "\(second)".contains("/second"))
        #expect(first.url.path == "/first")
    }
}
