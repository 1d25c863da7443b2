import Foundation

/// The settings of the driver.
struct Settings: Sendable {
    var folder: String
    var front: String
    /// The number of child processes: more than cores, because much of the time is waiting.
    var workers = 4
    /// The number of last steps after each first step; `nil` for all.
    var lasts: Int? = 3
    /// The time for longer sequences, in seconds.
    var sequenceSeconds = 30.0
    var seed: UInt64 = 1
    /// The time after which the run stops, in seconds; `nil` for no limit.
    var limitSeconds: Double?
    /// The longest time of one unit, in seconds.
    var patience = 120.0
    /// The text that pairs must contain; `nil` for all pairs.
    var filter: String?
    /// The only sequence to run; empty for the plan.
    var sequence: [Step] = []

    static let usage = """
        usage: Isolation run [--lasts COUNT|all] [--sequences SECONDS] [--seed NUMBER] [--limit SECONDS]
                             [--workers COUNT] [--filter TEXT] | Isolation try STEP … | Isolation list
        """

    init(_ arguments: [String]) throws {
        let environment = ProcessInfo.processInfo.environment
        guard let folder = environment["ISOLATION_FOLDER"], let front = environment["ISOLATION_FRONT"] else {
            throw PeerFailure("ISOLATION_FOLDER and ISOLATION_FRONT are not set: start it with scripts/isolation")
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
