import FoundationEssentials
import NetworkCore

/// One key: its name, what it may be, and what it changes.
struct Setting: Sendable {
    /// The type that a reader asks for first.
    enum Kind: Sendable { case text, integer, flag, list }

    let key: String
    let kind: Kind
    /// What the value must be, in words.
    let form: String
    /// The value without the key, as text.
    let standard: String
    var isSecret = false
    /// The key without which this one has no effect.
    var needs: String?
    let apply: @Sendable (inout SettingsDraft, String) throws -> Void

    func needing(_ key: String) -> Setting { with { $0.needs = key } }
    var secret: Setting { with { $0.isSecret = true } }

    private func with(_ change: (inout Setting) -> Void) -> Setting {
        var copy = self
        change(&copy)
        return copy
    }
}

extension Setting {
    typealias Path<Value> = any WritableKeyPath<SettingsDraft, Value> & Sendable

    static func text(
        _ key: String, _ form: String, default standard: String = "none",
        _ set: @escaping @Sendable (inout SettingsDraft, String) throws -> Void
    ) -> Setting {
        Setting(key: key, kind: .text, form: form, standard: standard, apply: set)
    }

    static func text(_ key: String, _ form: String, _ path: Path<String?>) -> Setting {
        text(key, form) { $0[keyPath: path] = $1 }
    }

    static func list(
        _ key: String, _ form: String, default standard: String = "none",
        _ set: @escaping @Sendable (inout SettingsDraft, [String]) throws -> Void
    ) -> Setting {
        Setting(key: key, kind: .list, form: form, standard: standard) { try set(&$0, SettingText.list($1)) }
    }

    static func flag(_ key: String, default standard: Bool, _ path: Path<Bool>) -> Setting {
        Setting(key: key, kind: .flag, form: "true or false", standard: "\(standard)") { draft, text in
            switch text.lowercased() {
            case "true", "yes", "1": draft[keyPath: path] = true
            case "false", "no", "0": draft[keyPath: path] = false
            default: throw WrongValue("must be 'true' or 'false'")
            }
        }
    }

    static func integer(
        _ key: String, default standard: String, in range: ClosedRange<Int>, _ path: Path<Int>
    ) -> Setting {
        let form =
            range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)"
        return Setting(key: key, kind: .integer, form: form, standard: standard) { draft, text in
            guard let number = Int(text), range.contains(number) else {
                throw WrongValue("must be a whole number, \(form)")
            }
            draft[keyPath: path] = number
        }
    }

    static func bytes(_ key: String, default standard: String, _ path: Path<Int>) -> Setting {
        Setting(key: key, kind: .text, form: "bytes", standard: standard) {
            $0[keyPath: path] = try SettingText.bytes($1)
        }
    }

    static func share(_ key: String, default standard: String, _ path: Path<Double>) -> Setting {
        number(key, default: standard, in: 0...1, path)
    }

    static func number(
        _ key: String, default standard: String, in range: ClosedRange<Double>, _ path: Path<Double>
    ) -> Setting {
        let form = "\(shown(range.lowerBound)) to \(shown(range.upperBound))"
        return Setting(key: key, kind: .text, form: form, standard: standard) { draft, text in
            guard let number = Double(text), range.contains(number) else {
                throw WrongValue("must be a number, \(form)")
            }
            draft[keyPath: path] = number
        }
    }

    private static func shown(_ number: Double) -> String { Int(exactly: number).map(String.init) ?? "\(number)" }

    /// A time above 0.
    static func time(
        _ key: String, default standard: String, from lowest: String? = nil, upTo highest: String? = nil,
        _ path: Path<Duration>
    ) -> Setting {
        let form = "a time" + (lowest.map { ", from \($0)" } ?? "") + (highest.map { ", up to \($0)" } ?? "")
        return Setting(key: key, kind: .text, form: form, standard: standard) { draft, text in
            let time = try SettingText.duration(text)
            if let lowest = try lowest.map(SettingText.duration), time < lowest {
                throw WrongValue("must be at least \(lowest)")
            }
            if let highest = try highest.map(SettingText.duration), time > highest {
                throw WrongValue("must be at most \(highest)")
            }
            guard lowest != nil || time > .zero else { throw WrongValue("must be above 0") }
            draft[keyPath: path] = time
        }
    }

    static func timeOrNone(_ key: String, default standard: String, _ path: Path<Duration?>) -> Setting {
        Setting(key: key, kind: .text, form: "a time, or none", standard: standard) { draft, text in
            guard text != "none" else { return draft[keyPath: path] = nil }
            let time = try SettingText.duration(text)
            guard time > .zero else { throw WrongValue("must be above 0, or 'none'") }
            draft[keyPath: path] = time
        }
    }

    static func choice<Value: Sendable>(
        _ key: String, default standard: String, _ path: Path<Value>, _ choices: [(name: String, value: Value)]
    ) -> Setting {
        let names = choices.map(\.name)
        return Setting(key: key, kind: .text, form: names.joined(separator: ", "), standard: standard) { draft, text in
            guard let choice = choices.first(where: { $0.name == text }) else {
                throw WrongValue("must be \(SettingText.words(names))")
            }
            draft[keyPath: path] = choice.value
        }
    }

    static func choice<Value: CaseIterable & RawRepresentable<String> & Sendable>(
        _ key: String, default standard: String, _ path: Path<Value>
    ) -> Setting {
        choice(key, default: standard, path, Value.allCases.map { ($0.rawValue, $0) })
    }
}
