import CCurl
import CLibrary
import NetworkCore

/// A level-triggered epoll instance and its event buffer. Only the loop's thread uses it.
@safe final class Epoll {
    private let descriptor: Int32
    private let events: UnsafeMutableBufferPointer<epoll_event>
    /// The indices of the last wait's events that ``next()`` has not returned yet.
    private var rest = 0..<0

    init() throws {
        descriptor = epoll_create1(ccurl_epoll_cloexec)
        guard descriptor >= 0 else { throw NetworkError.systemCall("epoll_create1") }
        unsafe events = .allocate(capacity: Self.batch)
        unsafe events.initialize(repeating: epoll_event())
    }

    /// The maximum number of events per wait. A round's data is still in the core's caches when the tasks that waited
    /// for it run; with 256, a small request among 512 costs a tenth more.
    private static let batch = 64

    deinit {
        close(descriptor)
        unsafe events.deallocate()
    }

    /// Applies a change. Where the kernel's state differs (a descriptor was closed or registered meanwhile), follows
    /// the kernel instead of reporting an error.
    func apply(_ change: Change) {
        switch change.kind {
        case .delete: _ = control(EPOLL_CTL_DEL, change)
        case .add: if control(EPOLL_CTL_ADD, change) == EEXIST { _ = control(EPOLL_CTL_MOD, change) }
        case .modify: if control(EPOLL_CTL_MOD, change) == ENOENT { _ = control(EPOLL_CTL_ADD, change) }
        }
    }

    private func control(_ operation: Int32, _ change: Change) -> Int32 {
        var event = unsafe epoll_event()
        if change.interest.contains(.read) { unsafe event.events |= ccurl_epoll_in }
        if change.interest.contains(.write) { unsafe event.events |= ccurl_epoll_out }
        unsafe event.data.fd = change.descriptor
        return unsafe epoll_ctl(descriptor, operation, change.descriptor, &event) == 0 ? 0 : errno
    }

    /// What to wait for.
    struct Interest: OptionSet, Hashable, Sendable {
        let rawValue: UInt8
        static let read = Interest(rawValue: 1)
        static let write = Interest(rawValue: 2)
    }

    /// One call of epoll_ctl.
    struct Change: Hashable, Sendable {
        enum Kind: Sendable { case add, modify, delete }
        let kind: Kind
        let descriptor: Int32
        let interest: Interest
    }

    /// An event on a descriptor.
    struct Event {
        let descriptor: Int32
        let isReadable: Bool
        let isWritable: Bool
        let hasError: Bool

        /// An error also counts as readable: while a reset arrives, the error shows before the end does, and libcurl
        /// would not send the request again on another connection if it saw an error alone.
        init(descriptor: Int32, flags: UInt32) {
            self.descriptor = descriptor
            isReadable = flags & (ccurl_epoll_in | ccurl_epoll_hup | ccurl_epoll_err) != 0
            isWritable = flags & ccurl_epoll_out != 0
            hasError = flags & ccurl_epoll_err != 0
        }
    }

    /// Waits for events.
    /// - Parameter milliseconds: The maximum wait; -1 waits indefinitely.
    func wait(milliseconds: Int32) {
        // Newer C libraries declare the pointer non-null, so it is unwrapped.
        guard let first = unsafe events.baseAddress else { return }
        // -1 after a signal.
        rest = unsafe 0..<Int(max(0, epoll_wait(descriptor, first, Int32(events.count), milliseconds)))
    }

    /// Whether ``next()`` has more events.
    var hasMore: Bool { !rest.isEmpty }

    /// Returns the next event of the last wait.
    func next() -> Event? {
        while let index = rest.popFirst() {
            let event = unsafe events[index]
            if unsafe event.events != 0 { return unsafe Event(descriptor: event.data.fd, flags: event.events) }
        }
        return nil
    }

    /// Drops the events of a descriptor that was closed: its number may be reused.
    func forget(_ descriptor: Int32) {
        for index in rest where unsafe events[index].data.fd == descriptor { unsafe events[index].events = 0 }
    }
}
