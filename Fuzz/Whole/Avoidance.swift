/// Known faults that end the process and so can't be skipped by an oracle's name: NETWORKLAYER_FUZZ_AVOID has their
/// names, and what leads to them is taken out of each scenario.
enum Avoidance: String, CaseIterable {
    /// A first field line that begins with a blank.
    case blankFirstField = "blank-first-field"
    /// Addresses of one request.
    case named
    /// Connections that are kept.
    case kept
    /// What follows a response later than with its last byte, on a connection that is kept.
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
    /// Bytes that nothing but splits part go out together.
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

    /// Whatever the pieces are: a blank after the end of a line that may be a status line becomes a letter.
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
