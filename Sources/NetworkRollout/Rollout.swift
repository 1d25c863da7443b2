public import NetworkCore
import NetworkLayer

/// Shadows and canaries by the environment variable `NETWORK_TRANSPORT`.
///
/// | value | meaning |
/// | --- | --- |
/// | `curl; shadow=urlsession@1%` | all requests go over curl, 1 % of them over URLSession too: ``ShadowTransport`` |
/// | `curl; shadow=urlsession; ignore=json:/time, field:x-request-id` | the same, and these places are not compared |
/// | `curl@95%, urlsession@5%` | 5 % of the requests go over URLSession: ``CanaryTransport`` |
/// | `curl@95%, urlsession@5%; sticky=origin` | the same, and all requests to an origin use one transport |
///
/// A share is a number of percent above 0, with or without a fraction. Blanks around `;`, `,`, `=` and `@` do not
/// count. A shadow without a share gets 1 % of the requests. Ignored places are
/// ``ShadowTransport/Options/ignoredPlaces``; one with a `,` or `;` in its name can be ignored only there.
public enum Rollout {
    /// Makes ``NetworkLayer/DefaultTransport`` accept the values in the table above. Without this call, such a value
    /// makes each request fail with ``NetworkCore/NetworkError/Code/invalidConfiguration``.
    ///
    /// Call it at the start of the program: the variable is read once, by the first request over the default transport.
    public static func enable() {
        DefaultTransport.readRollouts { try RolloutChoice(text: $0, from: TransportKind.variable).transport }
    }

    /// Returns a new shadow or canary over the shared transports, as a text of the table above describes it.
    /// - Parameters:
    ///   - text: The text.
    ///   - source: Where the text comes from, for the error: a variable, an option.
    /// - Throws: ``NetworkCore/NetworkError/Code/invalidConfiguration``, which says what is wrong with the text.
    public static func transport(_ text: String, from source: String) throws -> any HTTPTransport {
        try RolloutChoice(text: text, from: source).transport
    }
}

/// A shadow or a canary, as a value of the table of ``Rollout`` describes it.
package struct RolloutChoice: Sendable, Hashable {
    enum Form: Sendable, Hashable {
        case shadow(
            primary: TransportKind, shadow: TransportKind, share: Double?, ignoredPlaces: Set<String> = [])
        case canary(first: TransportKind, second: TransportKind, share: Double, isStickyByOrigin: Bool)
    }

    let form: Form

    /// Creates a choice from its text. The error names the source, the text, what is wrong with it, and the choices.
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
        case .shadow(let primary, let shadow, let share, let ignoredPlaces):
            var options = ShadowTransport.Options()
            if let share { options.share = share }
            options.ignoredPlaces = ignoredPlaces
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
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map { String($0.withoutBlanks) }
        let settings = try settings(parts.dropFirst())
        let arms = parts[0].split(separator: ",", omittingEmptySubsequences: false).map { String($0.withoutBlanks) }
        switch arms.count {
        case 1:
            if settings.isEmpty { throw Problem(reason: "a share needs a second transport") }
            guard let value = settings["shadow"] else { throw Problem(reason: "it is no shadow") }
            if settings["sticky"] != nil { throw Problem(reason: "a shadow has no 'sticky'") }
            let shadow = try arm(value)
            return .shadow(
                primary: try kind(arms[0]), shadow: shadow.kind, share: shadow.share,
                ignoredPlaces: try places(settings["ignore"]))
        case 2:
            if !settings.isEmpty, settings != ["sticky": "origin"] {
                throw Problem(reason: "after two transports only 'sticky=origin' may follow")
            }
            let (first, second) = (try arm(arms[0]), try arm(arms[1]))
            guard let main = first.share, let share = second.share, abs(main + share - 1) < 1e-9, share < 1 else {
                throw Problem(reason: "the shares of two transports are percentages that add up to 100")
            }
            return .canary(first: first.kind, second: second.kind, share: share, isStickyByOrigin: !settings.isEmpty)
        default: throw Problem(reason: "there are more than two transports")
        }
    }

    /// Returns the settings by name.
    private static func settings(_ texts: ArraySlice<String>) throws(Problem) -> [String: String] {
        var settings: [String: String] = [:]
        for text in texts {
            let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                String($0.withoutBlanks)
            }
            // The name of a place may have an '='.
            guard sides.count == 2, sides[0] == "ignore" || !sides[1].contains("=") else {
                throw Problem(reason: "a setting has the form name=value")
            }
            guard ["shadow", "ignore", "sticky"].contains(sides[0]) else {
                throw Problem(reason: "a setting is 'shadow', 'ignore' or 'sticky'")
            }
            guard settings.updateValue(sides[1], forKey: sides[0]) == nil else {
                throw Problem(reason: "a setting is there twice")
            }
        }
        return settings
    }

    /// Returns the places of a list; none without a list.
    private static func places(_ list: String?) throws(Problem) -> Set<String> {
        guard let list else { return [] }
        let places = list.split(separator: ",", omittingEmptySubsequences: false).map { String($0.withoutBlanks) }
        // A misspelt place would be compared in silence.
        let isPlace = places.allSatisfy { place in
            ["status", "error", "trailers", "body", "fieldOrder", "fieldCase"].contains(place)
                || ["field:", "json:", "event:", "text:"].contains { place.hasPrefix($0) && place != $0 }
        }
        guard isPlace else { throw Problem(reason: "an ignored place is like json:/time or field:x-request-id") }
        return Set(places)
    }

    /// Returns a transport and its share, from 0 to 1, which may be missing.
    private static func arm(_ text: String) throws(Problem) -> (kind: TransportKind, share: Double?) {
        let sides = text.split(separator: "@", omittingEmptySubsequences: false).map { String($0.withoutBlanks) }
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
}

extension [any HTTPTransport] {
    /// Shuts down those that can be, at the same time.
    func shutDown(within patience: Duration) async {
        await withTaskGroup { group in
            for case let transport as any ShutsDown in self {
                group.addTask { await transport.shutDown(within: patience) }
            }
        }
    }
}
