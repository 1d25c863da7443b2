import HTTPTypes

extension TransportRequest {
    /// Adds header fields that the request does not have.
    /// - Parameter isWanted: Whether a field of that name is added.
    mutating func addMissing(_ fields: HTTPFields, where isWanted: (HTTPField.Name) -> Bool = { _ in true }) {
        guard !fields.isEmpty else { return }
        // One name may come several times.
        let own = headerFields
        for field in fields where !own.contains(field.name) && isWanted(field.name) { headerFields.append(field) }
    }
}

extension RequestURL {
    /// A URL that is never sent.
    static let placeholder = RequestURL(scheme: "http", host: "localhost", port: nil, path: "/", query: nil)
}
