extension TransportOptions {
    /// An option that a transport declares itself, as the curl transport does with ``TransportOptions/Key/tlsGroups``:
    /// one declaration has all that is to be known of it.
    ///
    /// ```swift
    /// extension TransportOptions.Key<Int> {
    ///     static var priority: Self {
    ///         Self("priority") { (0...7).contains($0) ? nil : "is \($0); it must be from 0 to 7" }
    ///     }
    /// }
    /// request.options[.priority] = 3
    /// ```
    ///
    /// A transport that supports the option has its ``capability`` among its capabilities; the others refuse a request
    /// that sets it.
    public struct Key<Value: Hashable & Sendable>: Sendable {
        /// The option's name, by which errors name it. Options with the same name are the same option.
        public let name: String
        fileprivate let problem: @Sendable (Value) -> String?
        fileprivate let curlArguments: @Sendable (Value) -> [String]

        /// Declares an option.
        /// - Parameters:
        ///   - name: The option's name, by which errors name it.
        ///   - problem: Returns what is wrong with a value, as it follows the name in an error: `is 8; it must be from
        ///     0 to 7`. `nil` for a valid value. Default: all values are valid.
        ///   - curlArguments: Returns the words that express a value on curl's command line. They are printed as they
        ///     are, so they must not contain a secret. Default: none.
        public init(
            _ name: String, problem: @escaping @Sendable (Value) -> String? = { _ in nil },
            curlArguments: @escaping @Sendable (Value) -> [String] = { _ in [] }
        ) {
            self.name = name
            self.problem = problem
            self.curlArguments = curlArguments
        }

        /// The capability of a transport that supports the option.
        public var capability: TransportCapabilities.Capability { .init(ofKey: name) }
    }

    /// The value of an option that a transport declares. Default: `nil`, for the transport's own default.
    public subscript<Value>(key: Key<Value>) -> Value? {
        get { declared[key.name]?.value as? Value }
        set { declared[key.name] = newValue.map { DeclaredOption($0, of: key) } }
    }
}

extension TransportCapabilities.Capability {
    private static let keys = "option "

    fileprivate init(ofKey name: String) { self.init(rawValue: Self.keys + name) }

    /// Whether a transport that has the capability supports an option of that name.
    var isOfAKey: Bool { rawValue.hasPrefix(Self.keys) }
}

/// The value of an option that a transport declares, with what its declaration says.
struct DeclaredOption: Sendable, Hashable {
    let value: any Hashable & Sendable
    let problem: String?
    let capability: TransportCapabilities.Capability
    let curlArguments: [String]

    fileprivate init<Value>(_ value: Value, of key: TransportOptions.Key<Value>) {
        self.value = value
        problem = key.problem(value)
        capability = key.capability
        curlArguments = key.curlArguments(value)
    }

    static func == (left: DeclaredOption, right: DeclaredOption) -> Bool {
        AnyHashable(left.value) == AnyHashable(right.value)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(value)) }
}
