import Foundation
import NetworkLayer
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

@Suite("Writing to a descriptor", .patience(minutes: 1)) struct DescriptorTests {
    /// Regression: each partial write moved all bytes that were left, 34 GB for these.
    @Test func `many partial writes cost no more than their bytes`() {
        let bytes = PatternBytes.make(count: 16 << 20)
        let array = [UInt8](bytes)
        let costsMuch = costsMore(than: .seconds(1)) {
            do {
                let received = try Self.received(of: array)
                #expect(received == bytes)
            } catch {
                Issue.record(error)
            }
        }
        #expect(!costsMuch)
    }

    /// F_SETPIPE_SZ, which Swift does not import.
    private static let setPipeSize: Int32 = 1031

    /// Writes bytes to a pipe that takes a page at a time, and returns what its reader gets.
    private static func received(of bytes: [UInt8]) throws -> Data {
        let pipe = Pipe()
        let (reader, writer) = (pipe.fileHandleForReading, pipe.fileHandleForWriting)
        let number = writer.fileDescriptor
        try #require(fcntl(number, setPipeSize, 4096) == 4096)
        try #require(fcntl(number, F_SETFL, O_NONBLOCK) == 0)
        let received = Guarded(Data())
        let end = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let bytes = (try? reader.readToEnd()) ?? Data()
            received.withLock { $0 = bytes }
            end.signal()
        }
        try Descriptor(number: number).write(bytes)
        try writer.close()
        end.wait()
        return received.withLock { $0 }
    }
}
