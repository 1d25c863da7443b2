/// The framing of a response by its header fields (RFC 9112 §5, §6, §7). Checked line by line on the loop's thread:
/// once the response has ended, its connection is back in the pool. Pure.
///
/// When two readers can read a line in two ways, they may disagree on where a body ends, and the rest of the body for
/// one is the next response for the other. So wrong framing is a ``Fault``, and correct framing that may be misread is
/// doubtful: its connection carries no other request.
///
/// libcurl decodes five transfer codings, compressions included, without a callback that could limit what they grow to.
/// No request of this library offers any of them (`TE`), so a response may have none but `chunked`.
struct ResponseFraming {
    /// The fault in a line.
    enum Fault { case coding, ambiguous, length, twoLengths, status, version }

    private static let coding = Array("transfer-encoding".utf8)
    private static let length = Array("content-length".utf8)
    private static let (http, http1_1) = (Array("HTTP/".utf8), Array("1.1".utf8))
    private static let (noContent, notModified) = (Array("204".utf8), Array("304".utf8))
    /// The limit on the elements of one line with transfer codings, as libcurl has it.
    private static let maximumCodings = 5
    /// Whether the connection must carry no other request.
    private(set) var isDoubtful = false
    private var isHTTP1 = true
    /// Whether the connection certainly speaks HTTP/1, whatever a status line says.
    private let mustBeHTTP1: Bool
    /// Whether the status allows no body, so that a length or a coding is wrong.
    private var isBodiless = false
    private(set) var isChunked = false
    private var hasCoding = false
    private var announced: Int?
    /// Whether the previous line was one of framing, which a continuation line would change.
    private var isOpen = false
    /// Whether no body follows the head, whatever its lines say (RFC 9110 §15.4.5, §15.3.5).
    private var isEmpty = false

    /// The body's length in bytes; `nil` if the head does not say it.
    var bodyLength: Int? { isEmpty ? 0 : isChunked || hasCoding ? nil : announced }

    init(mustBeHTTP1: Bool = false) { self.mustBeHTTP1 = mustBeHTTP1 }

    /// Whether libcurl may discard bytes that it reads together with the head or the last chunk.
    var mayHideSurplus: Bool { isHTTP1 && (isChunked || isEmpty || announced == 0) }

    /// Returns whether a line begins as a status line does.
    static func looksLikeStatus(_ line: some RandomAccessCollection<UInt8>) -> Bool { line.starts(with: http) }

    /// Starts another head with its status line.
    mutating func begin(_ line: some RandomAccessCollection<UInt8>) -> Fault? {
        self = ResponseFraming(mustBeHTTP1: mustBeHTTP1)
        guard !ResponseHeadScan.isUsualStatus(line) else { return nil }
        guard Self.looksLikeStatus(line), let space = line.firstIndex(of: UInt8(ascii: " ")) else {
            return .status
        }
        let rest = line[space...].dropFirst()
        let code = rest.prefix { (0x30...0x39).contains($0) }
        let end = rest.dropFirst(code.count).first ?? UInt8(ascii: "\n")
        guard code.count == 3, code.first != UInt8(ascii: "0"), end == 0x20 || end == 0x0D || end == 0x0A else {
            return .status
        }
        let version = line[..<space].dropFirst(5)
        isHTTP1 = version.first == UInt8(ascii: "1")
        let isKnown = isHTTP1 && version.count == 3 && version.dropFirst().first == UInt8(ascii: ".")
        if mustBeHTTP1, !isKnown { return .version }
        // An HTTP/1.0 server may not know what keeps a connection (RFC 9112 §9.3), nor chunks (RFC 9112 §6.1).
        isDoubtful = isHTTP1 && !version.elementsEqual(Self.http1_1)
        isBodiless = code.first == UInt8(ascii: "1") || code.elementsEqual(Self.noContent)
        isEmpty = isBodiless || code.elementsEqual(Self.notModified)
        return nil
    }

    /// Returns the first fault in the fields of a head that is whole, if there is one.
    /// - Parameter scan: What the scan of the head has found; `nil` if there is anything unusual in it.
    mutating func fault(inFieldsOf head: [UInt8], scanned scan: ResponseHeadScan?) -> Fault? {
        if ByteSearch.hasBareCR(head) { doubt() }
        if let scan, !scan.isTransferEncoded {
            announced = scan.contentLength
            if isBodiless, announced ?? 0 != 0 { doubt() }
            return nil
        }
        var at = ByteSearch.newline(in: head, from: 0) + 1
        while at < head.count {
            let end = ByteSearch.newline(in: head, from: at)
            let line = head[at..<min(end + 1, head.count)]
            if let fault = fault(in: line) { return fault }
            at = end + 1
        }
        return nil
    }

    /// Returns the fault in a header line, if there is one.
    /// - Parameter isTrailer: Whether the line comes after the body, whose end it can no longer move.
    mutating func fault(in line: some RandomAccessCollection<UInt8>, isTrailer: Bool = false) -> Fault? {
        guard let first = line.first else { return nil }
        let wasOpen = isOpen
        isOpen = false
        switch first {
        case UInt8(ascii: " "), UInt8(ascii: "\t"):
            doubt()
            return wasOpen ? .ambiguous : nil
        case UInt8(ascii: "t"), UInt8(ascii: "T"): return codingFault(in: line, isTrailer)
        case UInt8(ascii: "c"), UInt8(ascii: "C"): return lengthFault(in: line, isTrailer)
        default: return nil
        }
    }

    /// Records that a line can be read in two ways. Over HTTP/2 and later no line frames a body.
    mutating func doubt() { isDoubtful = isHTTP1 || isDoubtful }

    private mutating func lengthFault(in line: some RandomAccessCollection<UInt8>, _ isTrailer: Bool) -> Fault? {
        guard Self.isNamed(line, Self.length) else { return nil }
        isOpen = true
        guard let value = Self.value(of: line, Self.length) else { return .ambiguous }
        guard !isTrailer else { return nil }
        if announced == nil, let length = Self.plainNumber(value) {
            announced = length
        } else if let fault = listFault(in: value) {
            return fault
        }
        // A coding overrides the length for recipients that know it (RFC 9112 §6.3), but some proxies forward both.
        if hasCoding || isBodiless && announced != 0 { doubt() }
        return nil
    }

    private mutating func listFault(in value: some RandomAccessCollection<UInt8>) -> Fault? {
        for text in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            guard let length = Self.number(Self.withoutBlanks(text)) else { return .length }
            // The same value again is allowed (RFC 9110 §8.6), but not every recipient accepts it.
            if let announced {
                guard announced == length else { return .twoLengths }
                doubt()
            }
            announced = length
        }
        return nil
    }

    private mutating func codingFault(in line: some RandomAccessCollection<UInt8>, _ isTrailer: Bool) -> Fault? {
        guard Self.isNamed(line, Self.coding) else { return nil }
        isOpen = true
        guard let value = Self.value(of: line, Self.coding) else { return .ambiguous }
        var (isEmpty, isIdentity) = (true, false)
        var elements = 0
        for text in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            // libcurl takes no more than five codings, and a line may have 100,000 commas.
            elements += 1
            guard elements <= Self.maximumCodings else { return .coding }
            let word = Self.withoutBlanks(text).map { $0 | 0x20 }
            // `chunked` is the last coding and occurs once (RFC 9112 §6.1, §7.1).
            if isChunked, !word.isEmpty { return word.elementsEqual("chunked".utf8) ? .ambiguous : .coding }
            switch word {
            case Array("chunked".utf8): isChunked = !isTrailer
            // Not a coding since RFC 7230.
            case Array("identity".utf8):
                isIdentity = true
                doubt()
            case []: doubt()
            default: return .coding
            }
            isEmpty = isEmpty && word.isEmpty
        }
        guard !isEmpty else { return .ambiguous }
        // libcurl 8.1 to 8.12 hand out no such body.
        guard !(isIdentity && isChunked) else { return .coding }
        if hasCoding || isBodiless || announced != nil { doubt() }
        hasCoding = !isTrailer
        return nil
    }

    private static func withoutBlanks<Bytes: RandomAccessCollection<UInt8>>(_ bytes: Bytes) -> ArraySlice<UInt8> {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        var bytes = Array(bytes)[...]
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return bytes.drop(while: isBlank)
    }

    /// Reads a number as most servers write it, without allocating: at most one space, then at most 18 digits.
    private static func plainNumber(_ value: some RandomAccessCollection<UInt8>) -> Int? {
        let digits = value.dropFirst(value.first == 0x20 ? 1 : 0)
        guard (1...18).contains(digits.count) else { return nil }
        var number = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            number = number * 10 + Int(digit - 0x30)
        }
        return number
    }

    /// Accepts digits alone: libcurl would read the digits and ignore the rest.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(String(decoding: bytes, as: UTF8.self))
    }

    /// Returns whether a line begins with a name that a colon or a blank follows.
    private static func isNamed(_ line: some RandomAccessCollection<UInt8>, _ name: [UInt8]) -> Bool {
        guard line.count > name.count, zip(line, name).allSatisfy({ $0 == $1 || $0 | 0x20 == $1 && $1 != 0x2D }) else {
            return false
        }
        let next = line[line.index(line.startIndex, offsetBy: name.count)]
        return next <= 0x20 || next == UInt8(ascii: ":")
    }

    /// Returns the value after the colon, which must directly follow the name, without the line's end.
    private static func value<Line: RandomAccessCollection<UInt8>>(
        of line: Line, _ name: [UInt8]
    ) -> Line.SubSequence? {
        var rest = line.dropFirst(name.count)
        guard rest.first == UInt8(ascii: ":") else { return nil }
        if rest.last == UInt8(ascii: "\n") { rest = rest.dropLast() }
        if rest.last == UInt8(ascii: "\r") { rest = rest.dropLast() }
        return rest.dropFirst()
    }
}
