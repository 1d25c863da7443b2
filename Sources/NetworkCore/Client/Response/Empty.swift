/// The response type of a request whose response has no content of interest: a body is discarded, and none is required.
///
/// ```swift
/// struct DeleteUser: RequestType {
///     typealias ResponseType = Empty
///     let id: Int
///     var data: RequestData { RequestData(path: "http://127.0.0.1:8080/users/\(id)", method: .delete) }
/// }
/// ```
///
/// If a response may or may not have a body, 200 or 204, use an optional: `typealias ResponseType = User?` is `nil`
/// without a body.
public struct Empty: Codable, Sendable, Hashable {
    /// Creates an empty value.
    public init() {}
}

/// A type that has a value for a response without a body.
protocol ValueWithoutBody {
    static var withoutBody: Self { get }
}

extension Empty: ValueWithoutBody {
    static var withoutBody: Empty { Empty() }
}

extension Optional: ValueWithoutBody {
    static var withoutBody: Wrapped? { nil }
}
