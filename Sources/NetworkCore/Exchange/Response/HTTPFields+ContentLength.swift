import HTTPTypes

extension HTTPFields {
    /// Returns the body's length that the head announces, or `nil` if it announces none. Several fields and lists are
    /// accepted if all values are the same (RFC 9110 §8.6).
    ///
    /// libcurl stops reading at the first character that is not a digit: `0x3` would silently become an empty body.
    /// - Throws: ``NetworkError/Code/invalidResponse`` for a value that is not a number and for two different values.
    package func announcedLength() throws(NetworkError) -> Int? {
        var announced: Int?
        for field in self[values: .contentLength] {
            for text in field.split(atByte: UInt8(ascii: ",")) {
                guard let length = Int(asciiDigits: text.withoutBlanks.utf8) else {
                    throw .invalidLength("its Content-Length is not a number that can be used")
                }
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
