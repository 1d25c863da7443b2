import HTTPTypes

extension TransportRequest {
    /// Whether a response's body has only encodings that the request accepts. A body that is not to be decoded may have
    /// any.
    func asked(forEncodingOf head: HTTPResponse) -> Bool {
        guard options.decompress else { return true }
        let asked = Self.encodings(wireFields[values: .acceptEncoding])
        return Self.encodings(head.headerFields[values: .contentEncoding]).allSatisfy { name in
            name == "identity" || asked.contains(name) || asked.contains("*")
                || name == "x-gzip" && asked.contains("gzip")
        }
    }

    /// Returns the encodings that header fields name, without those excluded by a weight of 0.
    private static func encodings(_ values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",") }.compactMap { value in
            let parts = value.lowercased().filter { $0 != " " && $0 != "\t" }.split(separator: ";")
            let isRefused = parts.dropFirst().contains { $0.hasPrefix("q=") && Double($0.dropFirst(2)) == 0 }
            return isRefused ? nil : parts.first.map(String.init)
        }
    }
}
