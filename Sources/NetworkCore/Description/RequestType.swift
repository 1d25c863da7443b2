/// A request that knows the type of its response.
///
/// ```swift
/// struct User: Codable { let id: Int; let name: String }
///
/// struct GetUsers: RequestType {
///     typealias ResponseType = [User]
///     var data: RequestData { RequestData(path: "http://127.0.0.1:3000/users", params: ["page": 1]) }
/// }
///
/// let users = try await GetUsers().send().body
/// ```
public protocol RequestType: RequestConvertible {
    /// What the response's body is decoded to, as JSON. Any `Codable` type whose conformance is not bound to an actor:
    /// decoding runs off the caller's actor.
    associatedtype ResponseType: Codable, SendableMetatype
}
