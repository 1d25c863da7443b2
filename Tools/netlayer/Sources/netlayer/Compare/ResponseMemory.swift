import Foundation
import NetworkComparison
import NetworkLayer

/// The responses of one URL that an arm has reported, each under a number. Its size is bounded.
struct ResponseMemory {
    /// The responses without their bodies, each with the number of the first one that had its body.
    private var numbers: [RecordedResponse: Int] = [:]
    private var bodies: [Body: Int] = [:]
    private var bytes = 0

    static let maximumResponses = 10_000
    static let maximumBytes = 8 << 20
    /// The bytes of each URL, of however many.
    private static let leastBytes = 1 << 20

    private let maximumBytes: Int

    init(urls: Int = 1) { maximumBytes = max(Self.maximumBytes / max(1, urls), Self.leastBytes) }

    /// Returns the number of a response, and the response if it is a new one, without a body that an earlier one had. A
    /// new one without room is known by its outline.
    mutating func number(
        of response: RecordedResponse, body: Body? = nil
    ) -> (number: Int, new: RecordedResponse?) {
        let (next, body) = (numbers.count, body ?? Body(response.body))
        var known = response
        // The time of the response differs each time, and is not compared.
        known.fields.removeAll { $0.name.lowercasedASCII == "date" }
        known.body = Data()
        // Of a large body there is the digest alone.
        known.bodyOf = response.digest == nil ? bodies[body] ?? next : nil
        if let number = numbers[known] { return (number, nil) }
        if next >= Self.maximumResponses || bytes >= maximumBytes {
            known = known.outline
            if let number = numbers[known] { return (number, nil) }
        }
        numbers[known] = next
        bytes += known.fields.reduce(256) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 }
        if known.bodyOf == next {
            bytes += response.body.count
            bodies[body] = next
            (known.body, known.bodyOf) = (response.body, nil)
        }
        return (next, known)
    }

    /// The bytes of a body, hashed all: `Data` hashes its start alone, and bodies of one server often begin alike.
    struct Body: Hashable {
        private let bytes: Data
        private let number: UInt64

        init(_ bytes: Data) {
            self.bytes = bytes
            // FNV-1a: in safe code a `Hasher` takes the bytes one by one, in several times the time.
            number = bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        }

        static func == (left: Body, right: Body) -> Bool { left.number == right.number && left.bytes == right.bytes }

        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }
}
