import Foundation
import NetworkLayer

/// The credentials of a line, as one Authorization field.
enum Authorization: Sendable, Equatable {
    case basic(user: String, password: String)
    case bearer(token: String)

    /// The field's value. It is a secret.
    /// - Throws: ``NetworkError/Code/invalidOption`` that names the part, never its text.
    func fieldValue() throws -> String {
        switch self {
        case .basic(let user, let password):
            if user.contains(":") { throw Self.invalid("the user has ':', which ends it (RFC 7617 §2)") }
            guard (user + password).unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
                throw Self.invalid("user or password has a control character (RFC 7617 §2)")
            }
            return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
        case .bearer(let token):
            guard !token.isEmpty else { throw Self.invalid("the token is missing; it stands in 'password'") }
            guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw Self.invalid("the token has characters other than visible ASCII (RFC 6750 §2.1)")
            }
            return "Bearer " + token
        }
    }

    private static func invalid(_ problem: String) -> NetworkError {
        NetworkError(.invalidOption, "the option 'auth' can't be used: \(problem)", phase: .preparing)
    }
}

/// The `range` option.
enum ByteRange {
    /// The Range field's value for `0-499`, `500-`, `-500`, lists of them, with or without `bytes=`.
    /// - Throws: ``NetworkError/Code/invalidOption``.
    static func fieldValue(_ text: String) throws -> String {
        let ranges = text.hasPrefix("bytes=") ? text.dropFirst(6) : text[...]
        for part in ranges.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            let numbers = ends.map { end in
                end.utf8.allSatisfy { (0x30...0x39).contains($0) } ? (end.isEmpty ? nil : UInt64(end)) : nil
            }
            let isComplete = ends.count == 2 && zip(ends, numbers).allSatisfy { $0.isEmpty == ($1 == nil) }
            guard isComplete, numbers.contains(where: { $0 != nil }) else { throw invalid(text) }
            if let first = numbers[0], let last = numbers[1], first > last { throw invalid(text) }
        }
        return "bytes=\(ranges)"
    }

    private static func invalid(_ text: String) -> NetworkError {
        NetworkError(
            .invalidOption,
            "the option 'range' is '\(text.shown)'; it takes '0-499', '500-', '-500', or a list of them",
            phase: .preparing
        )
    }
}
