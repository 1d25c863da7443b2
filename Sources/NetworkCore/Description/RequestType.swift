/// A request with a known response type.
///
/// ```swift
/// struct User: Codable { let id: Int; let name: String }
///
/// struct GetUsers: RequestType {
///     typealias ResponseType = [User]
///     var data: RequestData { RequestData(path: "http://127.0.0.1:8080/users", params: ["page": 1]) }
/// }
///
/// let users = try await GetUsers().send().body
/// ```
public protocol RequestType: RequestConvertible {
    /// The type that the response's body is decoded to, with the client's decoder or else as JSON. It can be any
    /// `Codable` type whose conformance is not isolated to an actor, since decoding runs off the caller's actor.
    associatedtype ResponseType: Codable, SendableMetatype
}
