import CCurl
import CLibrary
import NetworkCore

/// The loop's thread.
enum LoopThread {
    /// Runs `body` on a new detached thread with signals blocked: a write to a closed connection must not end the
    /// process by SIGPIPE, and the program's handlers should run where the program expects them. Threads that libcurl
    /// starts from it inherit the mask. The thread's own faults (SIGSEGV and the like) still reach the program's crash
    /// handler, and SIGPROF still reaches a profiler.
    static func start(named name: String, _ body: @escaping @Sendable () -> Void) throws {
        let box = unsafe Unmanaged.passRetained(
            Box {
                unsafe ccurl_name_thread(name)
                body()
            }
        )
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { unsafe pthread_attr_destroy(&attributes) }

        var blocked = sigset_t()
        var previous = sigset_t()
        unsafe sigfillset(&blocked)
        for signal in faults + [SIGPROF] { unsafe sigdelset(&blocked, signal) }
        // A thread starts with its creator's mask, which may block more.
        unsafe pthread_sigmask(SIG_SETMASK, &blocked, &previous)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }

        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread, &attributes,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, unsafe box.toOpaque())
        guard status == 0 else {
            unsafe box.release()
            throw unsafe NetworkError(
                .unclassified,
                "the loop's thread could not be started",
                underlying: .init(domain: "errno", code: Int(status), message: String(cString: strerror(status)))
            )
        }
    }

    /// The signals of a thread's own faults.
    private static let faults = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS]

    /// Yields the core to other threads.
    static func yield() { sched_yield() }

    /// The number of cores that the process may use.
    static var cores: Int { Int(ccurl_count_cores()) }

    /// Sets the calling thread's policy to SCHED_BATCH. Has no effect where the system does not allow it.
    static func scheduleInBatches() {
        var priority = sched_param()
        _ = unsafe pthread_setschedparam(pthread_self(), ccurl_sched_batch, &priority)
    }

    /// Whether the calling thread's policy is SCHED_BATCH.
    static var isScheduledInBatches: Bool {
        var (policy, priority) = (Int32(0), sched_param())
        return unsafe pthread_getschedparam(pthread_self(), &policy, &priority) == 0 && policy == ccurl_sched_batch
    }

    private final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

/// The identity of a thread. A value may be reused once its thread has ended.
enum ThreadIdentity {
    /// A value that no thread has.
    static let none: UInt = 0
    static var current: UInt {
        #if canImport(Musl)
        UInt(bitPattern: pthread_self())
        #else
        pthread_self()
        #endif
    }
}
