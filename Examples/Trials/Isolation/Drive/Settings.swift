import Foundation

/// What the driver was asked for.
struct Settings: Sendable {
    var folder: String
    var front: String
    /// More than cores: much of the time is waiting.
    var workers = 4
    /// How many last steps each first one is followed by; `nil` for all.
    var lasts: Int? = 3
    /// How long longer sequences are run, in seconds.
    var sequenceSeconds = 30.0
    var seed: UInt64 = 1
    /// When to stop, whatever is left.
    var limitSeconds: Double?
    /// How long one unit may take.
    var patience = 60.0
    /// Only pairs whose text has this.
    var filter: String?
    /// One sequence and nothing else.
    var sequence: [Step] = []

    static let usage = """
        usage: Isolation run [--lasts COUNT|all] [--sequences SECONDS] [--seed NUMBER] [--limit SECONDS]
                             [--workers COUNT] [--filter TEXT] | Isolation try STEP … | Isolation list
        """

    init(_ arguments: [String]) throws {
        let environment = ProcessInfo.processInfo.environment
        guard let folder = environment["ISOLATION_FOLDER"], let front = environment["ISOLATION_FRONT"] else {
            throw PeerFailure("ISOLATION_FOLDER and ISOLATION_FRONT are not set: start it by scripts/isolation")
        }
        (self.folder, self.front) = (folder, front)
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { throw PeerFailure(Self.usage) }
            switch name {
            case "--lasts": lasts = value == "all" ? nil : try Self.number(value)
            case "--sequences": sequenceSeconds = Double(try Self.number(value))
            case "--seed": seed = UInt64(try Self.number(value))
            case "--limit": limitSeconds = Double(try Self.number(value))
            case "--workers": workers = max(1, try Self.number(value))
            case "--filter": filter = value
            default: throw PeerFailure(Self.usage)
            }
        }
    }

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text), number >= 0 else { throw PeerFailure(usage) }
        return number
    }
}
