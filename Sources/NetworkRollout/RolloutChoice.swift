package import NetworkCore
import NetworkLayer

/// A shadow or a canary, as a value of the table of ``Rollout`` describes it.
package struct RolloutChoice: Sendable, Hashable {
    enum Form: Sendable, Hashable {
        case shadow(primary: TransportKind, shadow: TransportKind, share: Double?)
        case canary(first: TransportKind, second: TransportKind, share: Double, isStickyByOrigin: Bool)
    }

    let form: Form

    /// Creates a choice from its text.
    /// - Parameters:
    ///   - text: The text.
    ///   - source: Where the text comes from, for the error: a variable, an option.
    /// - Throws: ``NetworkCore/NetworkError/Code/invalidConfiguration``, which names the source, the text, what is
    ///   wrong with it, and the choices.
    package init(text: String, from source: String) throws {
        do {
            form = try Self.form(of: text)
        } catch {
            throw NetworkError(
                .invalidConfiguration,
                // Without quotes before an '@': a redaction takes what is between them for a user and a password.
                "\(source) is \(TransportKind.shown(text)), and not like curl; shadow=urlsession@1% or like "
                    + "curl@95%, urlsession@5%; \(error.reason)",
                phase: .preparing)
        }
    }

    /// A new shadow or canary over the shared transports, which logs to a `Logger` with the label `NetworkLayer`.
    package var transport: any HTTPTransport {
        switch form {
        case .shadow(let primary, let shadow, let share):
            var options = ShadowTransport.Options()
            if let share { options.share = share }
            return ShadowTransport(primary: primary.transport, shadow: shadow.transport, options: options)
        case .canary(let first, let second, let share, let isStickyByOrigin):
            var options = CanaryTransport.Options()
            options.share = share
            if isStickyByOrigin { options.assignment = .origin }
            return CanaryTransport(primary: first.transport, canary: second.transport, options: options)
        }
    }
}

// MARK: Reading a text

extension RolloutChoice {
    private struct Problem: Error {
        let reason: String
    }

    private static func form(of text: String) throws(Problem) -> Form {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map(trimmed)
        let setting = try parts.count > 1 ? assignment(parts[1]) : nil
        if parts.count > 2 { throw Problem(reason: "there is more than one setting after a ';'") }
        let arms = parts[0].split(separator: ",", omittingEmptySubsequences: false).map(trimmed)
        switch arms.count {
        case 1:
            guard let setting, setting.name == "shadow" else {
                throw Problem(reason: setting == nil ? "a share needs a second transport" : "it is no shadow")
            }
            let shadow = try arm(setting.value)
            return .shadow(primary: try kind(arms[0]), shadow: shadow.kind, share: shadow.share)
        case 2:
            if let setting, setting.name != "sticky" || setting.value != "origin" {
                throw Problem(reason: "after two transports only 'sticky=origin' may follow")
            }
            let (first, second) = (try arm(arms[0]), try arm(arms[1]))
            guard let main = first.share, let share = second.share, abs(main + share - 1) < 1e-9, share < 1 else {
                throw Problem(reason: "the shares of two transports are percentages that add up to 100")
            }
            return .canary(first: first.kind, second: second.kind, share: share, isStickyByOrigin: setting != nil)
        default: throw Problem(reason: "there are more than two transports")
        }
    }

    /// Returns the sides of an equals sign.
    private static func assignment(_ text: String) throws(Problem) -> (name: String, value: String) {
        let sides = text.split(separator: "=", omittingEmptySubsequences: false).map(trimmed)
        guard sides.count == 2 else { throw Problem(reason: "a setting has the form name=value") }
        guard ["shadow", "sticky"].contains(sides[0]) else {
            throw Problem(reason: "a setting is 'shadow' or 'sticky'")
        }
        return (sides[0], sides[1])
    }

    /// Returns a transport and its share, from 0 to 1, which may be missing.
    private static func arm(_ text: String) throws(Problem) -> (kind: TransportKind, share: Double?) {
        let sides = text.split(separator: "@", omittingEmptySubsequences: false).map(trimmed)
        guard sides.count <= 2 else { throw Problem(reason: "a transport has one share") }
        guard sides.count == 2 else { return (try kind(sides[0]), nil) }
        let digits = sides[1].dropLast()
        guard sides[1].last == "%", digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }),
            let percent = Double(String(digits)), percent > 0, percent <= 100
        else { throw Problem(reason: "a share is a percentage above 0, such as 1%") }
        return (try kind(sides[0]), percent / 100)
    }

    private static func kind(_ name: String) throws(Problem) -> TransportKind {
        guard let kind = TransportKind(rawValue: name) else {
            throw Problem(reason: "a transport is \(TransportKind.choices)")
        }
        return kind
    }

    private static func trimmed(_ text: Substring) -> String {
        String(String(text.drop { $0 == " " }.reversed()).drop { $0 == " " }.reversed())
    }
}
