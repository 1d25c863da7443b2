import NetworkComparison
import NetworkLayer

/// What an arm does with a block.
protocol BlockWorker: Sendable {
    /// Runs a block and returns its figures.
    func run(_ order: BlockOrder) async throws -> BlockReport
}

/// The responses that an arm has reported, each under a number. Its size is bounded.
struct ResponseMemory {
    private var numbers: [RecordedResponse: Int] = [:]
    private var bytes = 0

    static let maximumResponses = 10_000
    static let maximumBytes = 8 << 20

    /// Returns the number of a response, and whether it is a new one; -1 for a new one without room.
    mutating func number(of response: RecordedResponse) -> (number: Int, isNew: Bool) {
        // The time of the response differs each time, and is not compared.
        var response = response
        response.fields.removeAll { $0.name.lowercasedASCII == "date" }
        if let number = numbers[response] { return (number, false) }
        guard numbers.count < Self.maximumResponses, bytes < Self.maximumBytes else { return (-1, false) }
        bytes +=
            response.body.count + response.fields.reduce(256) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 }
        let number = numbers.count
        numbers[response] = number
        return (number, true)
    }
}
