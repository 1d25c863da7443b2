import HTTPTypes

extension HTTPFields {
    /// The body's length as the head announces it, or `nil`. Several fields and lists count as long as all say the same
    /// (RFC 9110 §8.6).
    ///
    /// libcurl reads as far as there are digits: `0x3` would be an empty body, and nobody would know.
    /// - Throws: ``NetworkError/Code/invalidResponse`` for what is not a number and for two different ones.
    package func announcedLength() throws(NetworkError) -> Int? {
        var announced: Int?
        for field in self[values: .contentLength] {
            for text in field.split(atByte: UInt8(ascii: ",")) {
                let digits = text.withoutBlanks
                guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(digits)
                else { throw .invalidLength("its Content-Length is not a number that can be used") }
                guard announced ?? length == length else {
                    throw .invalidLength("it has two different Content-Length values")
                }
                announced = length
            }
        }
        return announced
    }
}

extension NetworkError {
    fileprivate static func invalidLength(_ reason: String) -> NetworkError {
        NetworkError(.invalidResponse, "the response can't be used: \(reason)", phase: .receiving)
    }
}
