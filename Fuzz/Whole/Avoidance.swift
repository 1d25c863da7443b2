/// Known faults that end the process, so that skipping an oracle does not help. NETWORKLAYER_FUZZ_AVOID lists their
/// names, and their causes are removed from each scenario.
enum Avoidance: String, CaseIterable {
    /// A first field line that begins with a blank.
    case blankFirstField = "blank-first-field"
    /// Addresses that a request sets itself.
    case named
    /// Connections that are kept.
    case kept
    /// Data after the last byte of a response, on a connection that is kept.
    case split

    private static let names = ProcessState.names("NETWORKLAYER_FUZZ_AVOID")

    static func applied(to scenario: Scenario) -> Scenario {
        guard !names.isEmpty else { return scenario }
        return allCases.filter { names.contains($0.rawValue) }.reduce(scenario) { $1.without($0) }
    }

    private func without(_ scenario: Scenario) -> Scenario {
        var scenario = scenario
        for ask in scenario.asks.indices {
            switch self {
            case .named: scenario.asks[ask].words["named"] = nil
            case .kept: scenario.asks[ask].words["no-reuse"] = ""
            case .split:
                for reply in scenario.asks[ask].replies.indices { scenario.asks[ask].replies[reply].join() }
            case .blankFirstField:
                for reply in scenario.asks[ask].replies.indices {
                    scenario.asks[ask].replies[reply].fillBlankFirstFields()
                }
            }
        }
        return scenario
    }
}

extension Reply {
    /// Merges bytes that only a split separates, so that they are sent together.
    fileprivate mutating func join() {
        var joined: [Step] = []
        for step in steps where step != .split {
            if case .bytes(let bytes) = step, case .bytes(let before)? = joined.last {
                joined[joined.count - 1] = .bytes(before + bytes)
            } else {
                joined.append(step)
            }
        }
        steps = joined
    }

    /// Replaces a blank after the end of a line that may be a status line with a letter, across the pieces.
    fileprivate mutating func fillBlankFirstFields() {
        var line: [UInt8] = []
        for index in steps.indices {
            guard case .bytes(var bytes) = steps[index] else { continue }
            for position in bytes.indices {
                let isBlank = bytes[position] == 0x20 || bytes[position] == 0x09
                if isBlank, line.last == 0x0A, line.starts(with: Array("HTTP".utf8)) {
                    bytes[position] = UInt8(ascii: "X")
                }
                if line.last == 0x0A { line = [] }
                line.append(bytes[position])
            }
            steps[index] = .bytes(bytes)
        }
    }
}
