import Foundation

/// A minimal container may have no name for its loopback address.
enum Localhost {
    /// Whether /etc/hosts knows `localhost`.
    static let hasName = (try? String(contentsOfFile: "/etc/hosts", encoding: .utf8).contains("localhost")) ?? false

    /// The ways to write it here.
    static let hosts = hasName ? ["127.0.0.1", "localhost"] : ["127.0.0.1"]
}
