import Foundation
import Synchronization

enum Signals {
    /// Blocks signals in this thread and in those that it begins, so that none is lost before a dispatch source
    /// receives it (signalfd(2)). From then on, libdispatch decides which thread blocks them.
    /// - Returns: The signals that the parent process does not ignore. `nohup` ignores SIGHUP, and a shell without job
    ///   control ignores SIGINT for background commands.
    static func block(_ numbers: [Int32]) -> [Int32] {
        let taken = numbers.filter { !isIgnored($0) }
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        for number in taken { unsafe sigaddset(&mask, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &mask, nil)
        return taken
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Runs `body`, which starts a program, with the default action of SIGPIPE and no signal blocked: a program
    /// inherits both (execve(2)), and a shell can't undo the first. A signal that the parent process ignores stays
    /// ignored.
    static func withDefaults<Value>(_ body: () throws -> Value) rethrows -> Value {
        signal(SIGPIPE, SIG_DFL)
        // Threads of the pool block most signals.
        var (none, mask) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &mask)
        defer {
            unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
            signal(SIGPIPE, SIG_IGN)
        }
        return try body()
    }
}

enum Arguments {
    /// The number of the first argument that is not UTF-8; `nil` if there is none. Swift repairs such an argument, so
    /// its text would differ.
    static var firstThatIsNoText: Int? {
        let count = Int(CommandLine.argc)
        guard count > 1 else { return nil }
        return (1..<count).first { index in
            guard let argument = unsafe CommandLine.unsafeArgv[index] else { return false }
            return unsafe String(validatingCString: argument) == nil
        }
    }
}

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
