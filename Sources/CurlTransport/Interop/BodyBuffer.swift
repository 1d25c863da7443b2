import CLibrary
import FoundationEssentials
import NetworkCore

/// Collects a body with one copy: libcurl's bytes go into memory that becomes the caller's `Data` without copying. Only
/// a body that outgrows its memory, whose length was not known, is copied once more.
@safe struct BodyBuffer: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0
    /// Whether the memory belongs to ``BufferMemory``.
    private var isShared = false
    private(set) var count = 0
    /// The number of bytes handed over last: the chunks of a stream are alike in size.
    private var lastCount = 0

    /// Reserves memory for a body of known length. Only a hint: a shortage of memory shows up in ``append(_:)``.
    mutating func reserve(_ wanted: Int) { _ = grow(to: wanted) }

    /// Appends bytes of libcurl's.
    /// - Returns: Whether there was memory for them.
    mutating func append(_ bytes: BorrowedBytes) -> Bool {
        guard !bytes.isEmpty else { return true }
        guard let end = unsafe room(for: bytes.count) else { return false }
        unsafe bytes.copy(to: end)
        count += bytes.count
        return true
    }

    /// Appends a decoded chunk.
    /// - Returns: Whether there was memory for it.
    mutating func append(_ piece: Data) -> Bool {
        unsafe piece.withUnsafeBytes { unsafe append(BorrowedBytes($0.baseAddress, count: $0.count)) }
    }

    /// Returns the end of the bytes, with room for more; `nil` without memory for them.
    private mutating func room(for added: Int) -> UnsafeMutableRawPointer? {
        if count + added > capacity {
            let wanted = unsafe max(count + added, memory == nil ? min(lastCount, 1 << 18) : capacity * 2)
            guard grow(to: max(wanted, 1024)) else { return nil }
        }
        return unsafe memory.map { unsafe $0 + count }
    }

    /// Hands the memory over and starts empty.
    mutating func take() -> Data {
        guard let memory = unsafe memory, count > 0 else { return Data() }
        let (length, room) = (count, capacity)
        lastCount = count
        let wasShared = isShared
        unsafe self.memory = nil
        capacity = 0
        count = 0
        isShared = false
        if wasShared { return unsafe BufferMemory.shared.data(memory, count: length, capacity: room) }
        // An over-reserved body returns the memory that it does not use.
        let fitted = unsafe room > 2 * length ? realloc(memory, length) ?? memory : memory
        return unsafe Data(bytesNoCopy: fitted, count: length, deallocator: .free)
    }

    private mutating func grow(to wanted: Int) -> Bool {
        guard wanted > capacity else { return true }
        guard let shared = BufferMemory.capacity(for: wanted) else { return growAlone(to: wanted) }
        guard let larger = unsafe BufferMemory.shared.take(shared) else { return false }
        unsafe move(to: larger, capacity: shared, isShared: true)
        return true
    }

    private mutating func growAlone(to wanted: Int) -> Bool {
        if isShared {
            guard let larger = unsafe malloc(wanted) else { return false }
            unsafe move(to: larger, capacity: wanted, isShared: false)
        } else {
            guard let larger = unsafe realloc(memory, wanted) else { return false }
            unsafe memory = larger
            capacity = wanted
        }
        return true
    }

    private mutating func move(to larger: UnsafeMutableRawPointer, capacity wanted: Int, isShared: Bool) {
        if let memory = unsafe memory {
            unsafe larger.copyMemory(from: memory, byteCount: count)
            release()
        }
        unsafe memory = larger
        capacity = wanted
        self.isShared = isShared
    }

    private func release() {
        guard let memory = unsafe memory else { return }
        if isShared { unsafe BufferMemory.shared.give(memory, capacity: capacity) } else { unsafe free(memory) }
    }

    deinit { release() }
}
