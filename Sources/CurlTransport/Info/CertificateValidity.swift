import FoundationEssentials
import NetworkCore

/// The time for which a certificate is valid (RFC 5280 §4.1.2.5), read without a TLS library.
struct CertificateValidity: Equatable {
    let begin: Date
    let end: Date

    /// The maximum number of certificates of a text.
    private static let maximumCount = 1_000

    /// Returns the validity of each certificate of a PEM text (RFC 7468), whose other blocks are skipped.
    /// - Throws: A text that says what is wrong; a block without an end is.
    static func all(in pem: Data) throws(Fault) -> [CertificateValidity] {
        var found: [CertificateValidity] = []
        var block: (label: Substring, base64: String)?
        let text = String(decoding: pem, as: UTF8.self)
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.drop { $0 == " " }
            if line.hasPrefix("-----BEGIN ") {
                guard block == nil else { throw Fault("a block begins within another one") }
                block = (line.dropFirst(11).prefix { $0 != "-" }, "")
            } else if line.hasPrefix("-----END "), let ended = block {
                block = nil
                guard ended.label == "CERTIFICATE" else { continue }
                guard found.count < maximumCount else { throw Fault("more than \(maximumCount) certificates") }
                guard let bytes = Data(base64Encoded: ended.base64) else { throw Fault("a certificate is no base64") }
                found.append(try CertificateValidity(der: [UInt8](bytes)))
            } else if block != nil {
                block?.base64 += line.filter { !$0.isWhitespace }
            }
        }
        guard block == nil else { throw Fault("it ends within a block, and may not be written to its end") }
        guard !found.isEmpty else { throw Fault("it has no certificate") }
        return found
    }

    struct Fault: Error, Equatable {
        let words: String
        init(_ words: String) { self.words = words }
    }

    /// Certificate, its first part, and the fields up to the validity.
    init(der: [UInt8]) throws(Fault) {
        var certificate = DERReader(der[...])
        var outer = try certificate.sequence()
        var fields = try outer.sequence()
        if fields.nextTag == 0xA0 { _ = try fields.next() }  // version
        for _ in ["serial number", "algorithm", "issuer"] { _ = try fields.next() }
        var validity = try fields.sequence()
        (begin, end) = (try validity.time(), try validity.time())
    }
}

/// A reader of DER (X.690), as far as certificates need it.
private struct DERReader {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    var nextTag: UInt8? { bytes.first }

    mutating func next() throws(CertificateValidity.Fault) -> (tag: UInt8, content: ArraySlice<UInt8>) {
        guard let tag = bytes.popFirst(), let first = bytes.popFirst() else { throw Self.fault }
        var length = Int(first)
        if first >= 0x80 {
            // At most four bytes of length: no certificate has more than 4 GiB.
            let count = Int(first & 0x7F)
            guard (1...4).contains(count), bytes.count >= count else { throw Self.fault }
            length = bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(count)
        }
        guard length <= bytes.count else { throw Self.fault }
        defer { bytes = bytes.dropFirst(length) }
        return (tag, bytes.prefix(length))
    }

    mutating func sequence() throws(CertificateValidity.Fault) -> DERReader {
        let (tag, content) = try next()
        guard tag == 0x30 else { throw Self.fault }
        return DERReader(content)
    }

    /// UTCTime, whose years are from 1950 to 2049, or GeneralizedTime; both end with the seconds and `Z`.
    mutating func time() throws(CertificateValidity.Fault) -> Date {
        let (tag, content) = try next()
        let digits = content.dropLast().map { Int($0) - 0x30 }
        guard content.last == UInt8(ascii: "Z"), digits.allSatisfy((0...9).contains),
            tag == 0x17 && digits.count == 12 || tag == 0x18 && digits.count == 14
        else { throw Self.fault }
        let pairs = stride(from: 0, to: digits.count, by: 2).map { digits[$0] * 10 + digits[$0 + 1] }
        let year = tag == 0x18 ? pairs[0] * 100 + pairs[1] : pairs[0] + (pairs[0] < 50 ? 2_000 : 1_900)
        let rest = pairs.suffix(5).map(\.self)
        let date = CivilDate(
            year: year, month: rest[0], day: rest[1], hour: rest[2], minute: rest[3], second: rest[4])
        guard let moment = date.moment(inYears: 1...9_999) else { throw Self.fault }
        return moment
    }

    private static let fault = CertificateValidity.Fault("a certificate is no X.509 certificate")
}
