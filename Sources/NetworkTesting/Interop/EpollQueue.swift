import CEpoll
import CLibrary
import FlyingSocks

/// The sockets that a server waits on, as an epoll instance.
///
/// FlyingFox's own queue never closes the eventfd that it creates at each start. This one closes it with its last
/// reference, even if the server never got as far as running.
struct EpollQueue: EventQueue {
    private var instance: Epoll?
    private var registered: [Socket.FileDescriptor: Socket.Events] = [:]

    mutating func open() throws {
        registered = [:]
        instance = try Epoll()
    }

    /// Wakes the wait and ends it permanently.
    mutating func stop() throws {
        guard let instance else { throw SocketError.disconnected }
        instance.stop()
    }

    mutating func close() throws {
        registered = [:]
        instance = nil
    }

    mutating func addEvents(_ events: Socket.Events, for socket: Socket.FileDescriptor) throws {
        try set((registered[socket] ?? []).union(events), for: socket)
    }

    mutating func removeEvents(_ events: Socket.Events, for socket: Socket.FileDescriptor) throws {
        try set((registered[socket] ?? []).subtracting(events), for: socket)
    }

    private mutating func set(_ events: Socket.Events, for socket: Socket.FileDescriptor) throws {
        guard let instance else { throw SocketError.disconnected }
        registered[socket] = events.isEmpty ? nil : events
        try instance.set(events, for: socket.rawValue)
    }

    /// Waits for events. It runs on its own queue, on a copy of this value.
    func getNotifications() throws -> [EventNotification] {
        guard let instance else { throw SocketError.disconnected }
        return try instance.wait()
    }
}

/// An epoll instance that contains an eventfd.
private final class Epoll: Sendable {
    private let descriptor: Int32
    private let wakeUp: Int32

    init() throws {
        descriptor = epoll_create1(cepoll_cloexec)
        guard descriptor >= 0 else { throw SocketError.makeFailed("epoll_create1") }
        wakeUp = eventfd(0, cepoll_eventfd_flags)
        // If this throws, deinit closes what was created; closing -1 does no harm.
        guard wakeUp >= 0 else { throw SocketError.makeFailed("eventfd") }
        guard control(EPOLL_CTL_ADD, wakeUp, cepoll_in) else { throw SocketError.makeFailed("epoll_ctl") }
    }

    deinit {
        close(descriptor)
        close(wakeUp)
    }

    func stop() { eventfd_write(wakeUp, 1) }

    func set(_ events: Socket.Events, for socket: Int32) throws {
        // A socket that has been closed meanwhile has already left the epoll instance.
        guard !events.isEmpty else {
            _ = control(EPOLL_CTL_DEL, socket, 0)
            return
        }
        let mask = (events.contains(.read) ? cepoll_in : 0) | (events.contains(.write) ? cepoll_out : 0)
        if control(EPOLL_CTL_ADD, socket, mask) { return }
        guard errno == EEXIST, control(EPOLL_CTL_MOD, socket, mask) else {
            throw SocketError.makeFailed("epoll_ctl")
        }
    }

    private func control(_ operation: Int32, _ socket: Int32, _ mask: UInt32) -> Bool {
        var event = unsafe epoll_event()
        unsafe event.events = mask
        unsafe event.data.fd = socket
        return unsafe epoll_ctl(descriptor, operation, socket, &event) == 0
    }

    /// Waits for events.
    /// - Throws: `SocketError.disconnected` after a stop.
    func wait() throws -> [EventNotification] {
        var events = unsafe [epoll_event](repeating: epoll_event(), count: 64)
        let count = unsafe epoll_wait(descriptor, &events, Int32(events.count), -1)
        guard count >= 0 else {
            // A signal interrupted the wait.
            if errno == EINTR { return [] }
            throw SocketError.makeFailed("epoll_wait")
        }
        return try unsafe events.prefix(Int(count)).map { event in
            let (socket, mask) = unsafe (event.data.fd, event.events)
            guard socket != wakeUp else { throw SocketError.disconnected }
            return Self.notification(for: socket, mask)
        }
    }

    /// Maps an epoll mask to events. An error or a hangup wakes both readers and writers.
    private static func notification(for socket: Int32, _ mask: UInt32) -> EventNotification {
        var events: Socket.Events = []
        var errors: Set<EventNotification.Error> = []
        let isOver = mask & (cepoll_err | cepoll_hup) != 0
        if isOver || mask & cepoll_in != 0 { events.insert(.read) }
        if isOver || mask & cepoll_out != 0 { events.insert(.write) }
        if mask & cepoll_hup != 0, mask & cepoll_in == 0 { errors.insert(.endOfFile) }
        if mask & cepoll_err != 0 { errors.insert(.error) }
        return EventNotification(file: .init(rawValue: socket), events: events, errors: errors)
    }
}
