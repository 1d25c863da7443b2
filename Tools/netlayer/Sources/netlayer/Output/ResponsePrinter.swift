import Foundation
import NetworkLayer

/// Prints a response as it arrives: byte for byte, or on a terminal with control characters made visible.
struct ResponsePrinter: Sendable {
    var writer = OutputWriter.standardOutput
    var isTerminal = Descriptor.standardOutput.isTerminal

    func print(head: [UInt8], body: some AsyncSequence<Data, any Error>) async throws {
        guard isTerminal else {
            try await write(head)
            for try await chunk in body { try await writer.write(chunk) }
            return
        }
        var filter = TerminalFilter()
        try await write(filter.visible(head.filter { $0 != UInt8(ascii: "\r") }))
        do {
            for try await chunk in body { try await write(filter.visible(chunk)) }
        } catch {
            // The bytes before the failure are shown to the last one.
            try await write(filter.end())
            throw error
        }
        try await write(filter.end())
    }

    private func write(_ bytes: [UInt8]) async throws {
        if !bytes.isEmpty { try await writer.write(bytes) }
    }
}

extension NetworkResponse {
    /// The head in the format of HTTP/1.1, with the protocol version and the reason phrase if they are known. The
    /// former may be known only when the body has ended.
    var headText: [UInt8] {
        let version = metrics.httpVersion.map { "/" + $0 } ?? ""
        let reason = head.status.reasonPhrase
        var text = "HTTP\(version) \(head.status.code)\(reason.isEmpty ? "" : " " + reason)\r\n"
        for field in head.headerFields { text += "\(field.name.rawName): \(field.value)\r\n" }
        return Array((text + "\r\n").utf8)
    }
}
