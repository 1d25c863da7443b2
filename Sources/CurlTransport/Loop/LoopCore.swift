import NetworkCore

/// The loop: epoll, one multi handle, the transfers, their clocks and their turn. Made by ``CurlLoop`` and then used by
/// its thread alone.
final class LoopCore {
    let mailbox: Mailbox
    let executor: LoopExecutor
    let clock: LoopClock
    let runway: Runway
    let epoll: Epoll
    private let keptConnections: Int
    /// `nil` once it could not be rebuilt after a fault, or the loop has ended.
    var multi: MultiHandle?
    /// When libcurl wants to be called without an event (CURLMOPT_TIMERFUNCTION).
    var multiDeadline: MonotonicTime?
    /// When the loop ends, even if something still runs; `nil` while it serves.
    var shutDownDeadline: MonotonicTime?
    private var idleMemory = IdleMemory()
    /// Whether transfers have ended that libcurl has not been asked for yet.
    var leavesDone = false
    /// What was taken out of the mailbox, the first message last; their storage is used again.
    var messages: [LoopMessage] = []
    var jobs: [UnownedJob] = []
    var pace = BeginningPace()

    /// The transfer that opened a socket, which may outlive it.
    struct Opener {
        weak var transfer: Transfer?
    }

    struct State {
        var sockets = SocketInterests()
        var keptSockets = KeptSockets()
        var deadlines = DeadlineHeap()
        var admission: Admission
        var transfers = TransferTable()
        /// Slots whose turn has come. A list and not a call: a transfer may end as it begins, and lets the next one
        /// begin.
        var admitted: [Int] = []
        /// Those whose share of a call is spent, and that go on in the next round.
        var yielding: [Transfer] = []
        /// Who opened which socket, where libcurl does not go on by itself when one is refused.
        var openers: [Int32: Opener] = [:]
        /// Those of which one was refused in this call.
        var refused: [Transfer] = []
        /// Transfers with something to deliver at the end of the round.
        var touched: [Transfer] = []
        /// Who is to be woken.
        var wakeUps = WakeUps()
    }

    let ownState: Unshared<State>
    /// Whether the process has one core, which those who are woken want too.
    private let isAlone = LoopThread.cores == 1

    init(
        configuration: CurlNetworkDispatcher.Configuration, mailbox: Mailbox, runway: Runway, executor: LoopExecutor,
        clock: LoopClock
    ) throws {
        self.mailbox = mailbox
        self.executor = executor
        self.clock = clock
        self.runway = runway
        // MAXCONNECTS counts connections in use: below their number, each request would open a new one.
        keptConnections = configuration.maximumConnections
        ownState = Unshared(
            State(
                admission: Admission(
                    perOrigin: configuration.maximumConnectionsPerHost,
                    inAll: configuration.maximumConnections,
                    maximumWaiting: configuration.maximumWaiting
                )))
        epoll = try Epoll()
        multi = try MultiHandle(loop: self, connections: keptConnections)
        epoll.apply(.init(kind: .add, descriptor: mailbox.wakeUp.descriptor, interest: .read))
    }

    /// The thread's life: messages, timers, clocks, then wait for what comes.
    func run() {
        while true {
            takeMail()
            checkClocks()
            let begun = beginAdmitted()
            if let due = multiDeadline, due <= clock.now { callForTimer(havingBegun: begun) }
            resumeYielding()
            idleMemory.look(at: clock.now, isIdle: state.transfers.isEmpty)
            if let shutDownDeadline, state.transfers.areGivenUp || shutDownDeadline <= clock.now { return end() }
            waitForEvents()
        }
    }

    /// How many messages and clocks are handled before the time is looked at.
    static let stride = 4

    private func waitForEvents() {
        flushTouched()
        runway.setFull(state.admission.waiting > 0)
        state.sockets.takeChanges(epoll.apply)
        let next = [multiDeadline, state.deadlines.earliest, shutDownDeadline, idleMemory.deadline].compactMap(\.self)
            .min()
        let isDone =
            state.admitted.isEmpty && state.yielding.isEmpty && messages.isEmpty && !epoll.hasMore && !leavesDone
        let maySleep = isDone && mailbox.fallAsleep()
        let timeout = maySleep ? next.map { clock.now.milliseconds(until: $0) } ?? -1 : 0
        takeEvents(milliseconds: timeout)
        gatherMore()
        // Here and not only before the next wait: a job of this thread that gets its answer sends its next request
        // within the round.
        flushTouched()
    }

    /// Looks for more before a few are woken: where those who wait share this core, each waking costs two switches, as
    /// much as a small response itself. Bounded, for on other cores they could be at work.
    private func gatherMore() {
        let end = clock.now + Self.gatherTime
        for _ in 0..<Self.looks {
            guard !state.touched.isEmpty, state.touched.count < Self.batch, !state.transfers.isEmpty, !epoll.hasMore,
                state.yielding.isEmpty, clock.now < end, takeEvents(milliseconds: 0)
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
        let wereThere = epoll.hasMore
        var share = RoundShare(from: clock.now)
        while let event = epoll.next() {
            if event.descriptor == mailbox.wakeUp.descriptor {
                mailbox.wakeUp.clear()
            } else if state.sockets.wants(event.descriptor) {
                act { $0.socketReady(event) }
                if share.isSpent() { break }
            }
        }
        takeDone()
        return wereThere
    }

    func flushTouched() {
        for transfer in state.touched {
            transfer.isTouched = false
            if let wakeUp = transfer.channel.wakeUp() { state.wakeUps.add(wakeUp) }
        }
        state.touched.removeAll(keepingCapacity: true)
        if state.wakeUps.run(), isAlone { LoopThread.yield() }
    }

    /// Instead of ``run()``, when there is no thread for it. A multi handle is closed and not dropped.
    func abandonStart() {
        multi?.close()
        multi = nil
    }

    /// libcurl's timer is due: it begins with what was added, too.
    func callForTimer(havingBegun begun: Int) {
        multiDeadline = nil
        let start = begun > 1 ? MonotonicTime.now : nil
        act { $0.timerDue() }
        if let start { pace.note(begun, from: start, to: .now) }
        takeDone()
    }

    /// Calls libcurl. A fault of the multi handle leaves every transfer undefined: they all fail, and the loop goes on
    /// with a new one, or ends if there is none to be had.
    private func act(_ call: (MultiHandle) -> NetworkError.Underlying?) {
        clock.beginCall()
        guard let multi, let fault = call(multi) else { return tryNextAddresses() }
        let error = NetworkError(.unclassified, "the curl loop failed and was rebuilt", underlying: fault)
        for transfer in state.transfers.all where transfer.isInMulti {
            transfer.channel.finish(.failure(error))
            retire(transfer)
        }
        multi.close()
        state.refused.removeAll()
        multiDeadline = nil
        self.multi = try? MultiHandle(loop: self, connections: keptConnections)
        if self.multi == nil { shutDownDeadline = clock.now }
    }
}
