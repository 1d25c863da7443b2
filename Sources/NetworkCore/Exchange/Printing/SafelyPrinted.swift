/// A value that contains secrets and prints none of them: every way to print it shows its description.
///
/// Swift prints a value inside an optional, an array, a result or another error with its `debugDescription`, or without
/// one with a mirror of its properties; `dump` uses both. For conforming types, all of them show only the description.
/// The types of this library that contain header fields, queries, bodies or credentials conform. Your own types can
/// too:
///
/// ```swift
/// struct Session: SafelyPrinted {
///     var user: String
///     var token: String
///     var description: String { "session of \(user)" }
/// }
/// ```
public protocol SafelyPrinted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension SafelyPrinted {
    /// The name of the type, unless the type has a description of its own.
    public var description: String { TypeName.of(Self.self) }

    /// The same as the description.
    public var debugDescription: String { description }

    /// A mirror without properties.
    public var customMirror: Mirror { Mirror(self, children: [], ancestorRepresentation: .suppressed) }
}
