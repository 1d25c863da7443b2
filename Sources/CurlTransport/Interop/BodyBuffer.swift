#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Collects a body with one copy: libcurl's bytes go into memory that becomes the caller's `Data` as it is.
struct BodyBuffer: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0
    private(set) var count = 0

    /// Makes room at once for a body of known length. Only a hint: short memory shows up in ``append(_:)``.
    mutating func reserve(_ wanted: Int) { _ = grow(to: wanted) }

    /// - Returns: Whether there was memory for it.
    mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return true }
        if count + bytes.count > capacity, !grow(to: max(count + bytes.count, capacity * 2, 1024)) { return false }
        guard let memory else { return false }
        (memory + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
        return true
    }

    /// Hands the memory over and starts empty.
    mutating func take() -> Data {
        guard let memory, count > 0 else { return Data() }
        let length = count
        // An over-reserved body gives back what it does not use.
        let fitted = capacity > 2 * length ? realloc(memory, length) ?? memory : memory
        self.memory = nil
        capacity = 0
        count = 0
        return Data(bytesNoCopy: fitted, count: length, deallocator: .free)
    }

    private mutating func grow(to wanted: Int) -> Bool {
        guard wanted > capacity else { return true }
        guard let larger = realloc(memory, wanted) else { return false }
        memory = larger
        capacity = wanted
        return true
    }

    deinit { free(memory) }
}
