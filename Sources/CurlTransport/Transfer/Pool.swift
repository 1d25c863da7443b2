import NetworkCore

/// The connections, addresses and TLS sessions that the requests of one ``ConnectionKey`` share: one multi handle, on
/// the loop's thread. libcurl keeps all three by multi handle, so no other request can meet them.
final class Pool: MultiHandleDelegate {
    let key: ConnectionKey
    /// The pool's place in its ``PoolTable``.
    let number: Int
    /// Has the pool in its table until ``close()``.
    private let loop: any PoolDelegate
    private let clock: LoopClock
    private var made: MultiHandle?
    /// When libcurl wants a call without an event (CURLMOPT_TIMERFUNCTION).
    var deadline: MonotonicTime?
    /// The number of transfers that libcurl has.
    private(set) var running = 0
    /// When the last transfer began or ended.
    private(set) var lastUsed: MonotonicTime
    /// Whether transfers may have ended that the loop has not taken from libcurl yet.
    var mayHaveDone = false
    /// The origins whose connections are here.
    private var destinations: [Origin: Destination] = [:]
    private var lastPrune: MonotonicTime?
    /// The time for which libcurl may use an address, in seconds; -1 for any time.
    private let nameCacheTime: Int

    /// The maximum number of origins whose connections are kept in one pool: for each transfer libcurl walks through
    /// all names, and below 8.12 all connections, of a multi handle.
    static let maximumOrigins = 256
    /// How long a pool stays after its last transfer: as long as libcurl uses a connection that is idle.
    static let maximumIdle = Duration.seconds(HardenedDefaults.maximumConnectionIdle)
    private static let pruneInterval = Nanoseconds(.seconds(1))

    init(_ key: ConnectionKey, number: Int, loop: any PoolDelegate, connections: Int, lookUps: Int) throws {
        (self.key, self.number, self.loop, clock) = (key, number, loop, loop.clock)
        lastUsed = clock.now
        nameCacheTime = key.nameCacheSeconds
        let (all, isOver) = connections.addingReportingOverflow(key.looksUpOverHTTPS ? lookUps : 0)
        made = try MultiHandle(delegate: self, connections: connections, allConnections: isOver ? .max : all)
    }

    var multi: MultiHandle {
        guard let made else { preconditionFailure("a pool is used after its end") }
        return made
    }

    var originCount: Int { destinations.count }
    var isFull: Bool { originCount >= Self.maximumOrigins }

    func has(_ origin: Origin) -> Bool { destinations[origin] != nil }

    /// Returns the origin's destination, which is made if needed.
    func destination(of origin: Origin) -> Destination {
        if let known = destinations[origin] { return known }
        let new = Destination(pool: self)
        destinations[origin] = new
        return new
    }

    func transferBegan() {
        running += 1
        lastUsed = clock.now
    }

    func transferEnded() {
        running -= 1
        lastUsed = clock.now
    }

    /// How long the next transfer may use addresses of the pool's cache, in seconds; -1 for any time. Any other number
    /// than -1 makes libcurl look through the whole cache for older ones, which one transfer a second does.
    func nameCacheSeconds() -> Int {
        guard nameCacheTime > 0, let lastPrune, clock.now < lastPrune + Self.pruneInterval else {
            lastPrune = clock.now
            return nameCacheTime
        }
        return -1
    }

    /// Forgets the origins that have not been used for as long as a connection may be idle, and their handles.
    func forgetIdleOrigins() {
        let limit = clock.now
        for (origin, destination) in destinations where destination.isIdle(since: limit, for: Self.maximumIdle) {
            destination.drop()
            destinations[origin] = nil
        }
    }

    /// The number of handles that the loop's pools keep together; each takes eleven kilobytes.
    var keptHandles: Int {
        get { loop.keptHandles }
        set { loop.keptHandles = newValue }
    }

    /// Closes the handles that are kept for further requests.
    func dropHandles() { for destination in destinations.values { destination.dropHandles() } }

    /// Closes all connections. No transfer may be left.
    func close() {
        for destination in destinations.values { destination.drop() }
        destinations = [:]
        made?.close()
        made = nil
    }

    // MARK: libcurl's events

    func multiWants(_ interest: Epoll.Interest, of descriptor: Int32) {
        loop.pool(self, wants: interest, of: descriptor)
    }

    func multiWantsTimer(milliseconds: Int?) {
        // 0 means 'at once', which takes the round's own clock; otherwise the wait would round it up to a millisecond.
        deadline = milliseconds.map { $0 == 0 ? clock.now : MonotonicTime.now.adding(milliseconds: $0) }
    }

    func multiWillClose(_ descriptor: Int32) { loop.poolWillClose(descriptor) }
}

/// The loop of a pool.
protocol PoolDelegate: AnyObject {
    var clock: LoopClock { get }
    /// The number of handles that the loop's pools keep together.
    var keptHandles: Int { get set }
    /// libcurl wants to know when a descriptor is ready.
    func pool(_ pool: Pool, wants interest: Epoll.Interest, of descriptor: Int32)
    /// libcurl is about to close a descriptor.
    func poolWillClose(_ descriptor: Int32)
}
