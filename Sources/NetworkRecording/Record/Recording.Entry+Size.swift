import NetworkCore

extension Recording.Entry {
    /// The approximate number of bytes that the entry takes.
    var approximateSize: Int {
        Self.overhead + request.url.utf8.count + (request.body?.bytes.count ?? 0) + request.headerFields.size
            + (response?.approximateSize ?? 0) + (failure?.message.utf8.count ?? 0)
    }

    static let overhead = 1024
}

extension Recording.Response {
    fileprivate var approximateSize: Int {
        reason.utf8.count + headerFields.size + body.bytes.count
            + chunks.count * MemoryLayout<Recording.Chunk>.stride + (trailers?.size ?? 0)
    }
}

extension HTTPFields {
    /// The approximate number of bytes that the fields take, of which a short field's name and value are the least.
    var size: Int { reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + overhead } }

    private var overhead: Int { 64 }
}
