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
