import HTTPTypes

extension TransportRequest {
    /// Adds the header fields that the request does not have yet, up to the number for which
    /// ``check()`` throws.
    /// - Parameter isWanted: Returns whether to add a field with the given name.
    mutating func addMissing(_ fields: HTTPFields, where isWanted: (HTTPField.Name) -> Bool = { _ in true }) {
        guard !fields.isEmpty else { return }
        // A name may occur several times in the added fields.
        let own = headerFields
        // HTTPFields looks at one field after another.
        let names = own.count > Self.fewFields ? Set(own.lazy.map(\.name)) : nil
        for field in fields where !(names?.contains(field.name) ?? own.contains(field.name)) && isWanted(field.name) {
            guard headerFields.count <= HTTPFields.maximumFields else { return }
            headerFields.append(field)
        }
    }

    private static var fewFields: Int { 64 }

    /// Checks the number of header fields, to which the pipeline adds some: `HTTPFields` traps beyond 65,534.
    /// - Throws: ``NetworkError/Code/invalidHeader``.
    func checkFieldCount(adding more: Int = 0) throws {
        guard headerFields.count + more > HTTPFields.maximumFields else { return }
        throw NetworkError.refused(
            .invalidHeader,
            "the request has \(headerFields.count + more) header fields; no request can have more than "
                + "\(HTTPFields.maximumFields)")
    }
}

extension RequestURL {
    /// A URL that is never sent.
    static let placeholder = RequestURL(scheme: "http", host: "localhost", port: nil, path: "/", query: nil)
}
