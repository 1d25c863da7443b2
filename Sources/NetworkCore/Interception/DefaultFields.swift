public import HTTPTypes

/// Adds header fields to every request that does not have them.
///
/// Put it into ``NetworkClient/interceptors``: what is secret in it then stays behind when a redirect leads to another
/// origin (``SecretFields``, ``TransportOptions/secretFields``).
public struct DefaultFields: Interceptor {
    private let fields: HTTPFields

    /// Fields to add; a name that the request has already keeps the request's values.
    public init(_ fields: HTTPFields) { self.fields = fields }

    /// How many there are.
    var count: Int { fields.count }

    /// Adds what is missing.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        var request = request
        for field in fields where !request.headerFields.contains(field.name) {
            request.headerFields[fields: field.name] = fields[fields: field.name]
        }
        return try await next(request)
    }
}

extension Interceptor where Self == DefaultFields {
    /// Adds header fields to every request that does not have them.
    public static func defaultFields(_ fields: HTTPFields) -> DefaultFields { DefaultFields(fields) }
}
