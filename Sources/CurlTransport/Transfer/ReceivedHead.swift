import HTTPTypes
import NetworkCore
import Synchronization

/// A response's head as the loop hands it over.
struct WholeHead: Sendable {
    let bytes: [UInt8]
    /// What the scan has found; `nil` for a head that only ``ResponseHeadParser`` may judge.
    let scan: ResponseHeadScan?
}

/// The head of a response as the caller gets it: already checked, with fields that are parsed on demand.
final class ReceivedHead: UnreadHead {
    let status: HTTPResponse.Status
    /// The body's length on the wire in bytes, if the head has it: a Transfer-Encoding overrides Content-Length.
    let contentLength: Int?
    /// Whether the head has a Content-Encoding.
    let isEncoded: Bool
    private let whole: WholeHead
    private let parsed: Guarded<HTTPResponse?>

    /// - Throws: ``NetworkError/Code/invalidResponse`` or ``NetworkError/Code/responseHeadTooLarge`` for a head that
    ///   can't be used.
    init(_ whole: WholeHead) throws {
        self.whole = whole
        if let scan = whole.scan {
            status = scan.status
            contentLength = scan.isTransferEncoded ? nil : scan.contentLength
            isEncoded = scan.isEncoded
            parsed = Guarded(nil)
        } else {
            let head = try ResponseHeadParser.parse(whole.bytes)
            status = head.status
            let announced = try head.headerFields.announcedLength()
            contentLength = head.headerFields.contains(.transferEncoding) ? nil : announced
            isEncoded = head.headerFields.contains(.contentEncoding)
            parsed = Guarded(head)
        }
    }

    var head: HTTPResponse {
        parsed.withLock { parsed in
            if let parsed { return parsed }
            let head =
                whole.scan.map { ResponseHeadParser.read(whole.bytes, scanned: $0) } ?? HTTPResponse(status: status)
            parsed = head
            return head
        }
    }
}
