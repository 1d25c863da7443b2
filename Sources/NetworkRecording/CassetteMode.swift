public import FoundationEssentials
import NetworkCore

extension Cassette {
    /// Whether a cassette records or replays.
    @nonexhaustive
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// Replays the file if it exists, or else records it.
        case once
        /// Records the file anew.
        case always
        /// Replays the file, and fails if it does not exist: for CI.
        case never

        /// The environment variable that selects the mode: `NETWORK_RECORD`.
        public static let variable = "NETWORK_RECORD"

        /// Returns the mode that an environment selects; ``once`` if it does not.
        /// - Parameter environment: The environment. Default: the process's own.
        /// - Throws: ``NetworkCore/NetworkError/Code/invalidConfiguration`` for any other value, the empty string
        ///   included.
        public static func selected(
            in environment: [String: String] = ProcessInfo.processInfo.environment
        ) throws -> Mode {
            guard let name = environment[variable] else { return .once }
            guard let mode = Mode(rawValue: name) else {
                throw NetworkError(
                    .invalidConfiguration, "\(variable) is '\(name.shown)'; it must be 'once', 'always' or 'never'",
                    phase: .preparing)
            }
            return mode
        }
    }
}
