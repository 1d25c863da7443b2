import CCurl
import CLibrary
import NetworkCore

/// A level-triggered epoll instance and its event buffer. Used by the loop's thread alone.
@safe final class Epoll {
    private let descriptor: Int32
    private let events: UnsafeMutableBufferPointer<epoll_event>
    /// The events of the last wait that ``next()`` has not given yet.
    private var rest = 0..<0

    init() throws {
        descriptor = epoll_create1(ccurl_epoll_cloexec)
        guard descriptor >= 0 else { throw NetworkError.systemCall("epoll_create1") }
        unsafe events = .allocate(capacity: Self.batch)
        unsafe events.initialize(repeating: epoll_event())
    }

    /// The most events of one wait. What a round touches is still in the core's caches when those who waited for it
    /// run; with 256 a small request among 512 costs a tenth more.
    private static let batch = 64

    deinit {
        close(descriptor)
        unsafe events.deallocate()
    }

    /// Makes a change. What the kernel knows better (a descriptor that was closed or registered meanwhile) is followed,
    /// not reported.
    func apply(_ change: SocketInterests.Change) {
        switch change.kind {
        case .delete: _ = control(EPOLL_CTL_DEL, change)
        case .add: if control(EPOLL_CTL_ADD, change) == EEXIST { _ = control(EPOLL_CTL_MOD, change) }
        case .modify: if control(EPOLL_CTL_MOD, change) == ENOENT { _ = control(EPOLL_CTL_ADD, change) }
        }
    }

    private func control(_ operation: Int32, _ change: SocketInterests.Change) -> Int32 {
        var event = unsafe epoll_event()
        if change.interest.contains(.read) { unsafe event.events |= ccurl_epoll_in }
        if change.interest.contains(.write) { unsafe event.events |= ccurl_epoll_out }
        unsafe event.data.fd = change.descriptor
        return unsafe epoll_ctl(descriptor, operation, change.descriptor, &event) == 0 ? 0 : errno
    }

    /// What happened on a descriptor.
    struct Event {
        let descriptor: Int32
        let isReadable: Bool
        let isWritable: Bool
        let hasError: Bool

        /// An error is there to be read: while a reset arrives, it shows before the end does, and libcurl, told of an
        /// error alone, would not send the request again on another connection.
        init(descriptor: Int32, flags: UInt32) {
            self.descriptor = descriptor
            isReadable = flags & (ccurl_epoll_in | ccurl_epoll_hup | ccurl_epoll_err) != 0
            isWritable = flags & ccurl_epoll_out != 0
            hasError = flags & ccurl_epoll_err != 0
        }
    }

    /// Waits until something happens.
    /// - Parameter milliseconds: -1 for no end.
    func wait(milliseconds: Int32) {
        // Newer C libraries declare the pointer non-null, so it is unwrapped.
        guard let first = unsafe events.baseAddress else { return }
        // -1 when a signal came.
        rest = unsafe 0..<Int(max(0, epoll_wait(descriptor, first, Int32(events.count), milliseconds)))
    }

    /// Whether ``next()`` has more to give.
    var hasMore: Bool { !rest.isEmpty }

    /// The next event of the last wait.
    func next() -> Event? {
        while let index = rest.popFirst() {
            let event = unsafe events[index]
            if unsafe event.events != 0 { return unsafe Event(descriptor: event.data.fd, flags: event.events) }
        }
        return nil
    }

    /// Forgets what happened on a descriptor that is closed: its number may come back.
    func forget(_ descriptor: Int32) {
        for index in rest where unsafe events[index].data.fd == descriptor { unsafe events[index].events = 0 }
    }
}
