import ArgumentParser
import NetworkLayer

/// The `--transport` option, shared by the commands that use one transport.
struct TransportOption: ParsableArguments {
    @Option(
        help: .init(
            "The transport: curl or urlsession. (default: \(TransportKind.variable), or else curl on Linux)",
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

    func selected() throws -> any HTTPTransport {
        try transport?.transport ?? DefaultTransport.shared.selected
    }
}

/// - Throws: A usage error, if options make no sense.
func refuse(if isWrong: Bool, _ message: @autoclosure () -> String) throws {
    if isWrong { throw ValidationError(message()) }
}

/// The checks of option values that several commands share.
enum OptionChecks {
    static func timeout(_ seconds: Double?, _ option: String) throws -> Duration? {
        guard let seconds else { return nil }
        try refuse(
            if: seconds < 0.001 || !(seconds <= TransportOptions.maximumTimeout.inSeconds),
            "\(option) takes seconds, from 0.001 to a year; it is \(seconds)")
        return .seconds(seconds)
    }

    /// Checks a name and a password, and does not repeat them.
    static func nameAndPassword(_ text: String?, _ option: String) throws {
        if let text, !text.contains(byte: UInt8(ascii: ":")) {
            throw ValidationError("\(option) takes 'name:password'; the value has no ':'")
        }
    }

    /// Checks header fields, and does not repeat them: one without its name may be a secret.
    static func fields(_ fields: [String], _ name: String) throws {
        for (index, field) in fields.enumerated() where !field.contains(byte: UInt8(ascii: ":")) {
            throw ValidationError("\(name) \(index + 1) has no ':'; write it as 'Name: value'")
        }
    }

    static func range(_ value: Int, _ range: ClosedRange<Int>, _ option: String) throws {
        try refuse(
            if: !range.contains(value), "\(option) takes \(range.lowerBound) to \(range.upperBound); it is \(value)")
    }
}
