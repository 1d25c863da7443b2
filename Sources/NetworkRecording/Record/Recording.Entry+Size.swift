import NetworkCore

extension Recording.Entry {
    /// The approximate number of bytes that the entry takes.
    var approximateSize: Int {
        Self.overhead + request.url.utf8.count + (request.body?.bytes.count ?? 0) + request.headerFields.size
            + (response.map { $0.headerFields.size + $0.body.bytes.count + $0.chunks.count * 16 } ?? 0)
    }

    static let overhead = 1024
}

extension HTTPFields {
    /// The number of bytes of all names and values.
    var size: Int { reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count } }
}
