import HTTPTypes
import NetworkCore
import Synchronization

/// The head of a response as the caller gets it: already checked, with fields that are parsed on demand.
final class ReceivedHead: UnreadHead {
    let status: HTTPResponse.Status
    /// The body's length on the wire in bytes, if the head has it: a Transfer-Encoding overrides Content-Length.
    let contentLength: Int?
    /// Whether the head has a Content-Encoding.
    let isEncoded: Bool
    private let bytes: [UInt8]
    private let scan: ResponseHeadScan?
    private let parsed: Guarded<HTTPResponse?>

    /// - Throws: ``NetworkError/Code/invalidResponse`` or ``NetworkError/Code/responseHeadTooLarge`` for a head that
    ///   can't be used.
    init(_ bytes: [UInt8]) throws {
        self.bytes = bytes
        scan = ResponseHeadScan(bytes)
        if let scan {
            status = scan.status
            contentLength = scan.isTransferEncoded ? nil : scan.contentLength
            isEncoded = scan.isEncoded
            parsed = Guarded(nil)
        } else {
            let head = try ResponseHeadParser.parse(bytes)
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
            let head = scan.map { ResponseHeadParser.read(bytes, scanned: $0) } ?? HTTPResponse(status: status)
            parsed = head
            return head
        }
    }
}
