package import FoundationEssentials

/// A piece of bytes that a C library writes.
package enum WrittenPiece {
    /// - Parameters:
    ///   - limit: The most bytes, as ``BufferMemory/capacity(for:)`` takes them: above 16 KiB, up to 1 MiB.
    ///   - write: Writes at most as many bytes as there is room for, and tells how many.
    package static func make(limit: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) throws -> Data {
        guard let capacity = BufferMemory.capacity(for: limit) else {
            preconditionFailure("a piece of \(limit) bytes")
        }
        guard let memory = unsafe BufferMemory.shared.take(capacity) else {
            throw NetworkError.noMemoryForBody
        }
        let count = unsafe write(UnsafeMutableRawBufferPointer(start: memory, count: limit))
        return unsafe BufferMemory.shared.data(memory, count: count, capacity: capacity)
    }
}
