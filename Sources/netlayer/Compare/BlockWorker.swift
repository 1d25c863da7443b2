import NetworkComparison
import NetworkLayer

/// What an arm does with a block.
protocol BlockWorker: Sendable {
    /// Runs a block and returns its figures.
    func run(_ order: BlockOrder) async throws -> BlockReport
}

/// The responses of one URL that an arm has reported, each under a number. Its size is bounded.
struct ResponseMemory {
    private var numbers: [RecordedResponse: Int] = [:]
    private var bytes = 0

    static let maximumResponses = 10_000
    static let maximumBytes = 8 << 20
    /// The bytes of each URL, of however many.
    private static let leastBytes = 1 << 20

    private let maximumBytes: Int

    /// - Parameter urls: The number of URLs that share the memory.
    init(urls: Int = 1) { maximumBytes = max(Self.maximumBytes / max(1, urls), Self.leastBytes) }

    /// Returns the number of a response, and whether it is a new one. A new one without room is known by its outline.
    mutating func number(of response: RecordedResponse) -> (number: Int, new: RecordedResponse?) {
        // The time of the response differs each time, and is not compared.
        var response = response
        response.fields.removeAll { $0.name.lowercasedASCII == "date" }
        if let number = numbers[response] { return (number, nil) }
        if numbers.count >= Self.maximumResponses || bytes >= maximumBytes {
            response = response.outline
            if let number = numbers[response] { return (number, nil) }
        }
        bytes +=
            response.body.count + response.fields.reduce(256) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 }
        let number = numbers.count
        numbers[response] = number
        return (number, response)
    }
}
