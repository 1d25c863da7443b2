/// A value that holds secrets and prints none: whatever prints it gets its description.
///
/// Swift prints a value inside an optional, an array, a result or another error by its `debugDescription`, and one
/// without any by a mirror of its properties; `dump` uses both. Here all of them show the description and nothing else.
/// The types of this library that hold header fields, queries, bodies or credentials conform. Types of your own can:
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
    /// The same as the description.
    public var debugDescription: String { description }

    /// No properties.
    public var customMirror: Mirror { Mirror(self, children: [], ancestorRepresentation: .suppressed) }
}
