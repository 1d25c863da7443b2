import HTTPTypes

extension TransportRequest {
    /// Adds the header fields that the request does not have yet.
    /// - Parameter isWanted: Returns whether to add a field with the given name.
    mutating func addMissing(_ fields: HTTPFields, where isWanted: (HTTPField.Name) -> Bool = { _ in true }) {
        guard !fields.isEmpty else { return }
        // A name may occur several times in the added fields.
        let own = headerFields
        for field in fields where !own.contains(field.name) && isWanted(field.name) { headerFields.append(field) }
    }
}

extension RequestURL {
    /// A URL that is never sent.
    static let placeholder = RequestURL(scheme: "http", host: "localhost", port: nil, path: "/", query: nil)
}
