import NetworkCore

/// The loop: epoll, the pools, the transfers, their clocks, and their order. ``CurlLoop`` creates it; afterwards only
/// its thread uses it.
final class LoopCore: Unshared<LoopCore.State> {
    let mailbox: Mailbox
    let executor: LoopExecutor
    let clock: LoopClock
    let epoll: Epoll
    let limits: LoopLimits
    /// When the loop ends, even if transfers still run; `nil` while it serves.
    var shutDownDeadline: MonotonicTime?
    private var idleMemory = IdleMemory()
    /// When the round's first wait ended; `nil` while it waits.
    private var roundBegan: MonotonicTime?
    /// Whether transfers have ended that the loop has not taken from libcurl yet.
    var leavesDone = false
    /// The messages from the mailbox, the first one last; the arrays' storage is reused.
    var messages: [LoopMessage] = []
    var jobs: [UnownedJob] = []
    var pace = BeginningPace()
    /// The number of handles that wait for a further request.
    var keptHandles = 0
    /// When idle pools and origins are next looked for; `nil` while there are no pools.
    var tendDeadline: MonotonicTime?

    /// The transfer that opened a socket, which may outlive it.
    struct Opener {
        weak var transfer: Transfer?
        let isInternet: Bool
    }

    struct State {
        var pools = PoolTable()
        var sockets = SocketInterests()
        var figures = LoopFigures()
        var keptSockets = KeptSockets()
        var deadlines = DeadlineHeap()
        var admission: Admission
        var transfers = TransferTable()
        /// The slots that may start. A list instead of a direct call: a transfer may end as it starts, which lets the
        /// next one start.
        var admitted: [Int] = []
        /// The transfers that have used up their share of a call, and resume in the next round.
        var yielding: [Transfer] = []
        /// The transfers by the sockets that they opened, for libcurls that do not go on to the next address by
        /// themselves.
        var openers: [Int32: Opener] = [:]
        /// The transfers that had an address refused in this call.
        var refused: [Transfer] = []
        /// The transfers that wait for a pool to become idle, since there are as many as there may be.
        var waitingForPool: [Int] = []
        /// The transfers with something to deliver at the end of the round.
        var touched: [Transfer] = []
        /// The wake-ups to run at the end of the round.
        var wakeUps = WakeUps()
    }

    /// Whether the process has a single core, which the woken tasks need too.
    private let isAlone = LoopThread.cores == 1

    init(
        limits: LoopLimits, mailbox: Mailbox, executor: LoopExecutor, clock: LoopClock
    ) throws {
        self.mailbox = mailbox
        self.executor = executor
        self.clock = clock
        self.limits = limits
        epoll = try Epoll()
        super.init(
            State(
                admission: Admission(
                    perOrigin: limits.perOrigin, inAll: limits.inAll, maximumQueued: limits.waiting)))
        epoll.apply(.init(kind: .add, descriptor: mailbox.wakeUp.descriptor, interest: .read))
    }

    /// The thread's main loop: messages, clocks, timers, then wait for events.
    func run() {
        while true {
            takeMail()
            checkClocks()
            let begun = beginAdmitted()
            callForTimers(havingBegun: begun)
            resumeYielding()
            if idleMemory.isOver(at: clock.now, isIdle: state.transfers.isEmpty) { dropMemory() }
            tendPools()
            if let shutDownDeadline, state.transfers.allLinger || shutDownDeadline <= clock.now { return end() }
            waitForEvents()
        }
    }

    /// The number of messages or clocks to handle between two checks of the time.
    static let stride = 4

    private func waitForEvents() {
        flushTouched()
        state.sockets.takeChanges(epoll.apply)
        let isDone =
            state.admitted.isEmpty && state.yielding.isEmpty && messages.isEmpty && !epoll.hasMore
            && !leavesDone
        let maySleep = isDone && mailbox.fallAsleep()
        if let roundBegan { state.figures.roundEnded(after: .now - roundBegan) }
        roundBegan = nil
        let timeout = maySleep ? nextDeadline.map { clock.now.milliseconds(until: $0) } ?? -1 : 0
        takeEvents(milliseconds: timeout)
        gatherMore()
        // Here and not only before the next wait: a job of this thread that gets its response sends its next request
        // within the round.
        flushTouched()
    }

    private var nextDeadline: MonotonicTime? {
        var next = state.deadlines.earliest
        for due in [state.pools.deadline, shutDownDeadline, idleMemory.deadline, tendDeadline] {
            if let due, next.map({ due < $0 }) ?? true { next = due }
        }
        return next
    }

    /// Looks for more events before it wakes a few tasks: where the waiting tasks share this core, each wake-up costs
    /// two switches, as much as a small response itself. Limited, since on other cores the tasks could be running
    /// already.
    private func gatherMore() {
        let end = clock.now + Self.gatherTime
        for _ in 0..<Self.looks {
            guard !state.touched.isEmpty, state.touched.count < Self.batch, !state.transfers.isEmpty,
                !epoll.hasMore, state.yielding.isEmpty, clock.now < end, takeEvents(milliseconds: 0)
            else { return }
        }
    }

    private static let looks = 4
    private static let gatherTime = Nanoseconds(.milliseconds(5))
    private static let batch = 16

    /// Waits for events, unless the last round has left some.
    /// - Returns: Whether there were any.
    @discardableResult
    private func takeEvents(milliseconds: Int32) -> Bool {
        if !epoll.hasMore { epoll.wait(milliseconds: milliseconds) }
        clock.now = .now
        if roundBegan == nil { roundBegan = clock.now }
        let wereThere = epoll.hasMore
        var share = RoundShare(from: clock.now)
        while let event = epoll.next() {
            if event.descriptor == mailbox.wakeUp.descriptor {
                mailbox.wakeUp.clear()
            } else if let number = state.sockets.pool(wanting: event.descriptor),
                let pool = state.pools[number]
            {
                act(pool) { $0.socketReady(event) }
                if share.isSpent() { break }
            }
        }
        takeDone()
        return wereThere
    }

    func flushTouched() {
        var undecided: [Transfer] = []
        for transfer in state.touched {
            // libcurl may have ended it with an error that has not been taken yet, and that looks like an early end.
            let isUndecided = transfer.hasRequestBody && leavesDone
            transfer.state.isTouched = isUndecided
            if isUndecided { undecided.append(transfer) } else if transfer.hasRequestBody { endIfOver(transfer) }
            if let wakeUp = transfer.channel.wakeUp() { state.wakeUps.add(wakeUp) }
        }
        state.touched.removeAll(keepingCapacity: true)
        state.touched += undecided
        if state.wakeUps.run(), isAlone { LoopThread.yield() }
    }

    /// Calls libcurl for each pool whose timer is due; libcurl also starts the transfers that were added.
    func callForTimers(havingBegun begun: Int) {
        guard let due = state.pools.deadline, due <= clock.now else { return }
        let start = begun > 1 ? MonotonicTime.now : nil
        for pool in state.pools.all {
            guard let due = pool.deadline, due <= clock.now else { continue }
            pool.deadline = nil
            act(pool) { $0.timerDue() }
        }
        if let start { pace.note(begun, from: start, to: .now) }
        takeDone()
    }

    /// Calls libcurl for a pool. A fault of its multi handle leaves the state of each of its transfers undefined: they
    /// all fail, and the pool goes with its connections.
    private func act(_ pool: Pool, _ call: (MultiHandle) -> NetworkError.Underlying?) {
        clock.beginCall()
        pool.mayHaveDone = true
        guard let fault = call(pool.multi) else { return tryNextAddresses() }
        let error = NetworkError(.unclassified, "the curl loop failed and was rebuilt", underlying: fault)
        for transfer in state.transfers.all where transfer.state.run.pool === pool && transfer.state.life.isInLibcurl {
            transfer.closeUpload()
            transfer.channel.finish(.failure(error))
            retire(transfer)
        }
        close(pool)
        state.refused.removeAll()
    }
}

/// The transfers of a loop, by their slots.
struct TransferTable {
    private var slots: [Transfer?] = []
    private var free: [Int] = []

    var isEmpty: Bool { slots.count == free.count }
    /// Whether no caller waits for any of the transfers.
    var allLinger: Bool { slots.allSatisfy { $0?.state.life.isLingering ?? true } }
    /// All transfers, in no particular order.
    var all: [Transfer] { slots.compactMap(\.self) }

    /// The transfer of a slot; `nil` for a free slot.
    subscript(slot: Int) -> Transfer? { slots[slot] }

    /// Assigns a slot to the transfer.
    mutating func insert(_ transfer: Transfer) {
        transfer.state.slot = free.popLast() ?? slots.count
        if transfer.state.slot == slots.count { slots.append(transfer) } else { slots[transfer.state.slot] = transfer }
    }

    /// Frees the transfer's slot.
    mutating func remove(_ transfer: Transfer) {
        slots[transfer.state.slot] = nil
        free.append(transfer.state.slot)
        transfer.state.slot = -1
    }
}

/// Whether a loop has been idle for long enough to release the memory that it keeps.
struct IdleMemory {
    private static let idleTime = Duration.seconds(1)

    /// When the memory is released, unless a transfer comes before; `nil` while transfers run, and after the release.
    private(set) var deadline: MonotonicTime?
    private var isGivenBack = true

    /// Returns whether the memory is to be released now.
    mutating func isOver(at now: MonotonicTime, isIdle: Bool) -> Bool {
        guard isIdle else {
            isGivenBack = false
            deadline = nil
            return false
        }
        guard !isGivenBack else { return false }
        let due = deadline ?? now + Self.idleTime
        isGivenBack = due <= now
        deadline = isGivenBack ? nil : due
        return isGivenBack
    }

    /// Releases the buffers that no transfer uses.
    static func drop() {
        BufferMemory.shared.drop()
        CurlMemory.drop()
    }
}
