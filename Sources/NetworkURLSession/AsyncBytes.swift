import Foundation
import FoundationNetworking

extension URLSession {
    /// The bytes of a body, which is read from the server no faster than from here, as far as the transport can pause.
    /// Its reading can be begun once. Its `lines` are ``AsyncLines``.
    public struct AsyncBytes: AsyncSequence, Sendable {
        /// One byte.
        public typealias Element = UInt8

        /// The task, to cancel it.
        public let task: URLSessionDataTask
        let chunks: @Sendable () async throws -> Data?

        /// Begins to read.
        public func makeAsyncIterator() -> Iterator { Iterator(chunks: chunks) }

        /// Reads byte by byte.
        public struct Iterator: AsyncIteratorProtocol {
            let chunks: @Sendable () async throws -> Data?
            private var chunk = Data()
            private var index = 0
            private var isOver = false

            init(chunks: @escaping @Sendable () async throws -> Data?) { self.chunks = chunks }

            /// Returns the next byte; `nil` at the end.
            /// - Throws: `URLError`.
            public mutating func next() async throws -> UInt8? {
                while index == chunk.endIndex {
                    guard !isOver else { return nil }
                    do {
                        guard let next = try await chunks() else {
                            isOver = true
                            return nil
                        }
                        (chunk, index) = (next, next.startIndex)
                    } catch {
                        isOver = true
                        throw error
                    }
                }
                defer { index += 1 }
                return chunk[index]
            }
        }
    }
}

/// The lines of a sequence of bytes in UTF-8. As on Apple's platforms, they end at LF, CR, CR LF, U+0085, U+2028 and
/// U+2029, and empty lines are left out. A line longer than ``maximumBytes`` fails.
public struct AsyncLines<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
    /// One line, without its end.
    public typealias Element = String

    /// The longest line: 16 MiB.
    public static var maximumBytes: Int { 16 << 20 }

    let base: Base

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(bytes: base.makeAsyncIterator()) }

    /// Reads line by line.
    public struct Iterator: AsyncIteratorProtocol {
        var bytes: Base.AsyncIterator
        private var line: [UInt8] = []

        init(bytes: Base.AsyncIterator) { self.bytes = bytes }

        /// Returns the next line that is not empty; `nil` at the end.
        /// - Throws: The error of the bytes; `URLError.dataLengthExceedsMaximum` for a line that is too long.
        public mutating func next() async throws -> String? {
            while let byte = try await bytes.next() {
                line.append(byte)
                if let length = lineEnd {
                    line.removeLast(length)
                    if let text = take() { return text }
                } else if line.count > AsyncLines.maximumBytes {
                    line = []
                    throw URLError(.dataLengthExceedsMaximum)
                }
            }
            return take()
        }

        private var lineEnd: Int? {
            switch line.last {
            case 0x0A, 0x0D: 1
            case 0x85: line.suffix(2) == [0xC2, 0x85] ? 2 : nil
            case 0xA8, 0xA9: line.suffix(3).prefix(2) == [0xE2, 0x80] ? 3 : nil
            default: nil
            }
        }

        private mutating func take() -> String? {
            defer { line.removeAll(keepingCapacity: line.count < 65_536) }
            return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
        }
    }
}

extension AsyncLines: Sendable where Base: Sendable {}

extension AsyncSequence where Element == UInt8 {
    /// The lines of the bytes.
    public var lines: AsyncLines<Self> { AsyncLines(base: self) }
}
