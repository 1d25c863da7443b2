import Foundation
import NetworkLayer

/// A number that tells texts apart and keeps what is secret in them: of 24 bits, which fit as many texts as can be
/// tried.
enum Fingerprint {
    static func of(_ parts: [String]) -> String { of(Data(parts.joined(separator: "\n").utf8)) }

    static func of(_ bytes: Data) -> String { String(SHA256Checksum.digest(bytes).hexadecimal.prefix(6)) }
}
