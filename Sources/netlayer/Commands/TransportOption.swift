import ArgumentParser
import NetworkLayer

/// `--transport`, shared by the commands that use one transport.
struct TransportOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The transport: curl or urlsession. (default: what \(TransportKind.variable) says, else curl on Linux)",
            valueName: "name"
        ),
        transform: { name in
            guard let kind = TransportKind(rawValue: name) else {
                throw ValidationError("it must be \(TransportKind.allCases.map(\.rawValue).joined(separator: " or "))")
            }
            return kind
        }
    )
    var transport: TransportKind?

    /// The transport to use.
    /// - Throws: ``NetworkError/Code/invalidConfiguration`` when the environment names one that does not exist.
    func selected() throws -> any HTTPTransport {
        try (transport ?? TransportKind.selected()).transport
    }
}

/// Options whose values are checked alike in several commands.
enum OptionChecks {
    /// Seconds as a duration.
    /// - Throws: A usage error unless the value is above 0 and at most a year.
    static func timeout(_ seconds: Double?) throws -> Duration? {
        guard let seconds else { return nil }
        guard seconds >= 0.001, seconds <= TransportOptions.maximumTimeout.inSeconds else {
            throw ValidationError("--timeout takes seconds, from 0.001 to a year; it is \(seconds)")
        }
        return .seconds(seconds)
    }

    /// - Throws: A usage error when the value is out of range.
    static func range(_ value: Int, _ range: ClosedRange<Int>, _ option: String) throws {
        guard range.contains(value) else {
            throw ValidationError("\(option) takes \(range.lowerBound) to \(range.upperBound); it is \(value)")
        }
    }
}
