import CCurl
import CLibrary
import FoundationEssentials

/// Bytes of libcurl's, valid until the callback that received them returns: to be read or copied there, never kept.
@safe struct BorrowedBytes: RandomAccessCollection {
    private let bytes: UnsafeRawBufferPointer

    init(_ start: UnsafeRawPointer?, count: Int) { unsafe bytes = UnsafeRawBufferPointer(start: start, count: count) }

    var startIndex: Int { 0 }
    var endIndex: Int { unsafe bytes.count }
    subscript(index: Int) -> UInt8 { unsafe bytes[index] }

    func withContiguousStorageIfAvailable<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        try unsafe bytes.withMemoryRebound(to: UInt8.self) { try unsafe body($0) }
    }

    /// The bytes' address as a number, to compare places in a buffer.
    var place: Int { unsafe Int(bitPattern: bytes.baseAddress) }

    /// The bytes as UTF-8; invalid sequences become U+FFFD.
    var text: String { unsafe String(decoding: bytes, as: UTF8.self) }

    /// Copies the bytes to memory with room for them.
    func copy(to target: UnsafeMutableRawPointer) {
        guard let source = unsafe bytes.baseAddress else { return }
        unsafe target.copyMemory(from: source, byteCount: bytes.count)
    }

    /// Returns whether the bytes begin with a text, and there are more.
    func begins(with words: StaticString) -> Bool {
        guard let start = unsafe bytes.baseAddress, count > words.utf8CodeUnitCount else { return false }
        return unsafe memcmp(start, words.utf8Start, words.utf8CodeUnitCount) == 0
    }

    /// Returns whether the bytes begin with a text, a number and another text.
    func begins(with words: StaticString, thenNumberAnd rest: StaticString) -> Bool {
        guard begins(with: words) else { return false }
        let afterWords = dropFirst(words.utf8CodeUnitCount)
        let afterNumber = afterWords.drop { (0x30...0x39).contains($0) }
        guard afterNumber.count < afterWords.count else { return false }
        return unsafe afterNumber.starts(
            with: UnsafeBufferPointer(start: rest.utf8Start, count: rest.utf8CodeUnitCount))
    }
}

/// Room for bytes in a buffer of libcurl's, valid until the callback that received it returns.
@safe struct BorrowedRoom {
    private let memory: UnsafeMutableRawBufferPointer
    /// The number of bytes written so far.
    private(set) var filled = 0

    init(_ start: UnsafeMutableRawPointer?, count: Int) {
        unsafe memory = UnsafeMutableRawBufferPointer(start: start, count: count)
    }

    /// The number of bytes that still fit.
    var left: Int { unsafe memory.count - filled }

    /// Appends bytes, as many as fit.
    mutating func append(_ bytes: some ContiguousBytes) {
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[filled...])
        filled += unsafe bytes.withUnsafeBytes { bytes in
            let count = min(bytes.count, room.count)
            unsafe room.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            return count
        }
    }
}

extension [UInt8] {
    /// Appends bytes in one piece where they lie in one, as `append(contentsOf:)` does for arrays alone.
    mutating func append(line: some Collection<UInt8>) {
        let appended: Void? = line.withContiguousStorageIfAvailable { unsafe append(contentsOf: $0) }
        if appended == nil { append(contentsOf: line) }
    }
}
