import Foundation

@testable import CurlTransport

/// Whether names can be looked up over HTTPS.
let looksUpOverHTTPS = !Libcurl.found.suffers(from: .lookUpsUseFreedMemory)

/// The name `localhost`, which a minimal container may lack.
enum Localhost {
    /// Whether /etc/hosts has an entry for `localhost`.
    static let hasName = (try? String(contentsOfFile: "/etc/hosts", encoding: .utf8).contains("localhost")) ?? false

    /// The URL hosts that reach the loopback address here.
    static let hosts = hasName ? ["127.0.0.1", "localhost"] : ["127.0.0.1"]
}
