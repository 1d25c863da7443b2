import ArgumentParser
import JSONText
import NetworkLayer

struct TransportsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transports",
        abstract: "Show what each transport can do on this machine."
    )

    @Flag(name: .customLong("as-json"), help: "Print one JSON object, a key for each transport.") var asJSON = false

    func run() async throws {
        let transports = TransportKind.allCases.map(\.transport)
        if asJSON {
            let members = transports.map { JSONValue.Member($0.name, Self.json($0.capabilities)) }
            try await OutputWriter.standardOutput.writeLine(JSONValue.object(members))
        } else {
            let lines = Self.lines(transports.map(\.capabilities))
            try await OutputWriter.standardOutput.writeLine(lines.joined(separator: "\n"))
        }
    }

    /// Returns the basis and the facts of each transport, then a row for each capability, then the reasons.
    static func lines(_ all: [TransportCapabilities]) -> [String] {
        var lines: [String] = []
        for capabilities in all {
            lines.append("\(capabilities.transport): \(capabilities.basis)")
            lines += capabilities.facts.map { "  \($0.name): \($0.value)" }
        }
        var table = Table([("capability", .left)] + all.map { ($0.transport, .left) })
        for capability in wellKnownAndOwn(all) {
            table.add([capability.rawValue] + all.map { $0.supports(capability) ? "yes" : "no" })
        }
        lines += [""] + table.lines
        let reasons = all.flatMap { capabilities in
            wellKnownAndOwn(all).compactMap { capability in
                capabilities.supports(capability)
                    ? nil : capabilities.reasons[capability].map { (capabilities.transport, capability.rawValue, $0) }
            }
        }
        if !reasons.isEmpty { lines.append("") }
        return lines + reasons.map { "\($0.0), \($0.1): \($0.2)" }
    }

    private static func wellKnownAndOwn(_ all: [TransportCapabilities]) -> [TransportCapabilities.Capability] {
        let known = TransportCapabilities.Capability.wellKnown
        let own = Set(all.flatMap { Array($0.supported) + $0.reasons.keys }).subtracting(known)
        return known + own.sorted { $0.rawValue < $1.rawValue }
    }

    private static func json(_ capabilities: TransportCapabilities) -> JSONValue {
        let facts = capabilities.facts.map { JSONValue.Member($0.name, .string($0.value)) }
        let table = wellKnownAndOwn([capabilities]).map { capability in
            var members: [JSONValue.Member] = [.init("supported", .bool(capabilities.supports(capability)))]
            if let reason = capabilities.reasons[capability] { members.append(.init("reason", .string(reason))) }
            return JSONValue.Member(capability.rawValue, .object(members))
        }
        return .object([
            .init("basis", .string(capabilities.basis)),
            .init("facts", .object(facts)),
            .init("capabilities", .object(table)),
        ])
    }
}
