internal import Foundation
internal import Logging

/// A way in which Swift programs turn a value into text without requesting its secrets.
package struct CanaryPrinter: Sendable {
    /// The name for failures.
    package let name: String
    /// Returns the text, or an empty text if the printer does not apply to the value.
    package let text: @Sendable (Any) -> String

    private init(_ name: String, _ text: @escaping @Sendable (Any) -> String) {
        self.name = name
        self.text = text
    }

    /// All printers.
    package static let all: [CanaryPrinter] = [
        CanaryPrinter("interpolation") { "\($0)" },
        CanaryPrinter("String(describing:)") { String(describing: $0) },
        CanaryPrinter("String(reflecting:)") { String(reflecting: $0) },
        CanaryPrinter("print") { written { print($0, to: &$1) }($0) },
        CanaryPrinter("debugPrint") { written { debugPrint($0, to: &$1) }($0) },
        CanaryPrinter("dump") { written { dump($0, to: &$1) }($0) },
        CanaryPrinter("Mirror") { mirrored($0) },
        CanaryPrinter("Optional") { "\(Optional($0) as Any)" },
        CanaryPrinter("dump of an Optional") { written { dump(Optional($0), to: &$1) }($0) },
        CanaryPrinter("Array") { "\([$0, $0])" },
        CanaryPrinter("dump of an Array") { written { dump([$0], to: &$1) }($0) },
        CanaryPrinter("Dictionary") { "\(["key": $0])" },
        CanaryPrinter("tuple") { "\(("name", $0))" },
        CanaryPrinter("Result.success") { "\(Result<Any, any Error>.success($0))" },
        CanaryPrinter("a property of a struct") { "\(Holder(name: "held", content: $0))" },
        CanaryPrinter("dump of a struct") { written { dump(Holder(name: "held", content: $0), to: &$1) }($0) },
        CanaryPrinter("a case of an enum") { "\(Choice.one($0))" },
        CanaryPrinter("dump of an object") { written { dump(Object($0), to: &$1) }($0) },
        CanaryPrinter("Logger") { logged($0) },
        CanaryPrinter("Result.failure") { error($0) { "\(Result<Int, any Error>.failure($0))" } },
        CanaryPrinter("localizedDescription") { error($0) { $0.localizedDescription } },
        CanaryPrinter("the error of another error") { error($0) { "\(Outer(underlying: $0))" } },
        CanaryPrinter("NSError") {
            error($0) { error in
                let bridged = error as NSError
                return
                    "\(bridged) \(bridged.debugDescription) \(bridged.userInfo) \(bridged.localizedFailureReason ?? "")"
            }
        },
    ]

    private struct Holder {
        let name: String
        let content: Any
    }

    private enum Choice {
        case one(Any)
    }

    private final class Object {
        let content: Any
        init(_ content: Any) { self.content = content }
    }

    private struct Outer: Error {
        let underlying: any Error
    }

    private static func error(_ value: Any, _ print: (any Error) -> String) -> String {
        (value as? any Error).map(print) ?? ""
    }

    private static func written(_ print: @escaping (Any, inout String) -> Void) -> (Any) -> String {
        { value in
            var text = ""
            print(value, &text)
            return text
        }
    }

    /// Returns everything a logger receives: the message, and metadata of each kind.
    private static func logged(_ value: Any) -> String {
        let log = CanaryLog()
        let logger = log.logger
        logger.info("\(value)", metadata: ["value": "\(value)", "list": ["\(value)"], "nested": ["value": "\(value)"]])
        return log.text
    }

    /// Returns all texts and bytes in a value's properties, at any depth.
    private static func mirrored(_ value: Any) -> String {
        var text = ""
        var seen: Set<ObjectIdentifier> = []
        collect(value, into: &text, seen: &seen, depth: 0)
        return text
    }

    private static func collect(_ value: Any, into text: inout String, seen: inout Set<ObjectIdentifier>, depth: Int) {
        if type(of: value) is AnyClass, !seen.insert(ObjectIdentifier(value as AnyObject)).inserted { return }
        switch value {
        case let value as any StringProtocol: text += "\(value)\n"
        case let value as Data: text += String(decoding: value, as: UTF8.self) + "\n"
        case let value as [UInt8]: text += String(decoding: value, as: UTF8.self) + "\n"
        default:
            guard depth < 24 else { return }
            let mirror = Mirror(reflecting: value)
            for child in mirror.children {
                text += "\(child.label ?? "") "
                collect(child.value, into: &text, seen: &seen, depth: depth + 1)
            }
            if let parent = mirror.superclassMirror {
                for child in parent.children { collect(child.value, into: &text, seen: &seen, depth: depth + 1) }
            }
        }
    }
}
