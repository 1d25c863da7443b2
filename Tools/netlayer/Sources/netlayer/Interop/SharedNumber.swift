import Foundation
import Synchronization

/// A number in a file that two processes share, so that one of them sees how far the other one came before it ended.
///
/// @unchecked: the pointers never change, and what they point to is an atomic.
@safe final class SharedNumber: @unchecked Sendable {
    private let memory: UnsafeMutableRawPointer
    private let number: UnsafeMutablePointer<Atomic<Int>>

    /// Maps a file, which is created or made large enough if need be.
    init(path: String, place: Int = 0) throws(SystemFailure) {
        precondition((0..<Self.size / MemoryLayout<Atomic<Int>>.stride).contains(place))
        let file = try Descriptor.open(path, O_RDWR | O_CREAT, mode: 0o600)
        defer { close(file.number) }
        // A page without room on the disk would be SIGBUS at its first use.
        let status = posix_fallocate(file.number, 0, off_t(Self.size))
        guard status == 0 else { throw SystemFailure(status) }
        let memory = unsafe mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { throw SystemFailure(errno) }
        unsafe self.memory = memory
        // The file begins with zeros, which are the number 0.
        unsafe number = memory.bindMemory(to: Atomic<Int>.self, capacity: place + 1) + place
    }

    deinit { unsafe munmap(memory, Self.size) }

    private static let size = 4096

    var value: Int {
        get { unsafe number.pointee.load(ordering: .relaxed) }
        set { unsafe number.pointee.store(newValue, ordering: .relaxed) }
    }

    func increase() { unsafe _ = number.pointee.add(1, ordering: .relaxed) }
}
