import Foundation
import NetworkCore

/// What is wrong with a value.
struct WrongValue: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// The values that settings have as text.
enum SettingText {
    static let durations = "a number with 'us', 'ms', 's', 'min', 'h' or 'd', such as '250ms' or '1.5 s'"
    static let sizes = "a number of bytes, or one with 'KiB', 'MiB' or 'GiB'"
    private static let units: [(name: String, seconds: Double)] = [
        ("us", 1e-6), ("ms", 1e-3), ("min", 60), ("s", 1), ("h", 3_600), ("d", 86_400), ("", 1),
    ]

    /// Reads a time; a number without a unit is one of seconds, as in swift-configuration.
    static func duration(_ text: String) throws(WrongValue) -> Duration {
        guard let unit = units.first(where: { text.hasSuffix($0.name) }),
            let number = number(text.dropLast(unit.name.utf8.count))
        else { throw WrongValue("must be \(durations)") }
        let seconds = number * unit.seconds
        guard seconds <= TransportOptions.maximumTimeout / .seconds(1) else {
            throw WrongValue("must be at most a year (365 d)")
        }
        // In whole microseconds: 0.1 s is not 100,000,000,000,000,005 as.
        return .microseconds(Int64((seconds * 1e6).rounded()))
    }

    static func bytes(_ text: String) throws(WrongValue) -> Int {
        let scales = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("", 1)]
        guard let (unit, scale) = scales.first(where: { text.hasSuffix($0.0) }),
            let number = number(text.dropLast(unit.utf8.count)), let bytes = Int(exactly: number * Double(scale))
        else { throw WrongValue("must be \(sizes)") }
        return bytes
    }

    /// A number in digits, with a dot or none: no sign, no exponent.
    private static func number(_ text: Substring) -> Double? {
        let digits = text.trimmingCharacters(in: .whitespaces)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }) else {
            return nil
        }
        return Double(digits)
    }

    static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    static func words(_ choices: [String]) -> String {
        let quoted = choices.map { "'\($0)'" }
        guard quoted.count > 1 else { return quoted.joined() }
        return quoted.dropLast().joined(separator: ", ") + " or " + (quoted.last ?? "")
    }
}
