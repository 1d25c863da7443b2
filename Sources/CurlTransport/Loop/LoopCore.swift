import NetworkCore
import Synchronization

/// The loop: epoll, one multi handle, the transfers, their clocks and their turn. Made by ``CurlLoop`` and then used by
/// its thread alone.
final class LoopCore {
    private let mailbox: Mailbox
    private let executor: LoopExecutor
    private let clock: LoopClock
    private let runway: Runway
    private let epoll: Epoll
    private let keptConnections: Int
    /// `nil` once it could not be rebuilt after a fault, or the loop has ended.
    private var multi: MultiHandle?
    /// When libcurl wants to be called without an event (CURLMOPT_TIMERFUNCTION).
    private var multiDeadline: MonotonicTime?
    /// When the loop ends, even if something still runs; `nil` while it serves.
    private var shutDownDeadline: MonotonicTime?
    /// When kept memory is given back, unless a transfer comes before; `nil` while transfers run, and once it was.
    private var releaseDeadline: MonotonicTime?
    private var hasReleased = true
    /// Whether transfers have ended that libcurl has not been asked for yet.
    private var leavesDone = false
    /// What was taken out of the mailbox, the first message last; their storage is used again.
    private var messages: [LoopMessage] = []
    private var jobs: [UnownedJob] = []
    private var pace = BeginningPace()
    private var transferCount: Int { state.slots.count - state.freeSlots.count }

    struct State {
        var sockets = SocketInterests()
        var keptSockets = KeptSockets()
        var deadlines = DeadlineHeap()
        var admission: Admission
        var slots: [Transfer?] = []
        var freeSlots: [Int] = []
        /// Slots whose turn has come. A list and not a call: a transfer may end as it begins, and lets the next one
        /// begin.
        var admitted: [Int] = []
        /// Those whose share of a call is spent, and that go on in the next round.
        var yielding: [Transfer] = []
        /// Transfers with something to deliver at the end of the round.
        var touched: [Transfer] = []
        /// Who is to be woken.
        var wakeUps = WakeUps()
    }

    let ownState: Unshared<State>
    /// Whether the process has one core, which those who are woken want too.
    private let isAlone = LoopThread.cores == 1

    init(
        configuration: CurlConfiguration, mailbox: Mailbox, runway: Runway, executor: LoopExecutor, clock: LoopClock
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
            releaseMemoryWhenIdle()
            if let shutDownDeadline, transferCount == 0 || shutDownDeadline <= clock.now { return end() }
            waitForEvents()
        }
    }

    /// Runs the jobs and handles the messages. A job often sends the next request: that is handled in this round too.
    /// The passes are counted, or tasks that wake one another would keep the loop from its sockets.
    private func takeMail() {
        var share = RoundShare(stride: Self.stride)
        for _ in 0..<Self.mailPasses {
            let hasRest = !messages.isEmpty
            mailbox.take(into: &messages, &jobs)
            if !hasRest { messages.reverse() }
            for job in jobs { executor.run(job) }
            let mayBringMore = !jobs.isEmpty
            jobs.removeAll(keepingCapacity: true)
            while let message = messages.popLast() {
                handle(message)
                if share.isSpent() { return }
            }
            guard mayBringMore else { return }
        }
    }

    private static let mailPasses = 8
    /// How many messages and clocks are handled before the time is looked at.
    private static let stride = 4

    private func waitForEvents() {
        flushTouched()
        runway.setFull(state.admission.waiting > 0)
        state.sockets.takeChanges(epoll.apply)
        let next = [multiDeadline, state.deadlines.earliest, shutDownDeadline, releaseDeadline].compactMap(\.self).min()
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
            guard !state.touched.isEmpty, state.touched.count < Self.batch, transferCount > 0, !epoll.hasMore,
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

    private func flushTouched() {
        for transfer in state.touched {
            transfer.isTouched = false
            if let wakeUp = transfer.channel.wakeUp() { state.wakeUps.add(wakeUp) }
        }
        state.touched.removeAll(keepingCapacity: true)
        if state.wakeUps.run(), isAlone { LoopThread.yield() }
    }

    // MARK: Messages

    private func handle(_ message: LoopMessage) {
        switch message {
        case .start(let transfer): start(transfer)
        case .cancel(let transfer): if transfer.slot >= 0 { abandon(transfer, NetworkError.cancelled) }
        case .resume(let transfer): resume(transfer)
        case .discard(let transfer): if transfer.slot >= 0 { discard(transfer) }
        case .shutDown(let deadline): shutDownDeadline = min(shutDownDeadline ?? deadline, deadline)
        }
    }

    private func start(_ transfer: Transfer) {
        if transfer.isPreparedAhead { runway.leave() }
        guard !transfer.isCancelled.load(ordering: .acquiring) else { return letGo(transfer) }
        transfer.slot = state.freeSlots.popLast() ?? state.slots.count
        if transfer.slot == state.slots.count { state.slots.append(nil) }
        state.slots[transfer.slot] = transfer
        switch state.admission.arrive(transfer.slot, at: transfer.origin) {
        case .run(let turn): admit([turn])
        case .wait:
            transfer.letGo()
            check(transfer)
        case .refused:
            transfer.channel.finish(.failure(NetworkError.overloaded))
            freeSlot(of: transfer)
        }
    }

    /// Gives an admitted transfer to libcurl.
    private func begin(_ transfer: Transfer) {
        guard let multi else { return }
        transfer.clocks.admit(at: clock.now)
        transfer.state.lastActivity = clock.now
        do {
            try transfer.prepare()
            guard let easy = transfer.easy else { return }
            transfer.delegate = self
            try multi.attach(to: easy)
            wishBuffers(of: easy, for: transfer)
            if let upload = easy.reader?.upload { attach(upload, to: transfer) }
            try multi.add(easy)
        } catch {
            transfer.channel.finish(.failure(error))
            return retire(transfer)
        }
        transfer.isInMulti = true
        check(transfer)
    }

    /// Large buffers while few transfers run, but not where bandwidth is limited: that is kept by the buffer-load, and
    /// by pauses.
    private func wishBuffers(of easy: EasyHandle, for transfer: Transfer) {
        let (request, support) = (transfer.request, Libcurl.found)
        guard !request.options.hasRareOptions || request.options.rate == RateOptions() else {
            easy.wishReceiveBuffer(support.receiveBufferBytes(rate: request.options.rate.maximumReceived))
            return easy.wishUploadBuffer(LibcurlSupport.defaultUploadBuffer)
        }
        let running = state.admission.running
        // Over HTTP/2 a handle below 8.7 keeps its buffer when it has ended.
        let mayBeLarge = support.has(.sharedReceiveBuffer) || transfer.speaksHTTP1
        easy.wishReceiveBuffer(
            request.options.answersChallenges
                ? LibcurlSupport.challengedBuffer
                : mayBeLarge ? support.receiveBufferBytes(running: running) : LibcurlSupport.defaultBuffer)
        if easy.reader != nil {
            // libcurl counts what it sends over TLS by the buffer, and only over HTTP/1 does the socket's queue say
            // more.
            easy.wishUploadBuffer(
                transfer.speaksHTTP1
                    ? support.uploadBufferBytes(running: running, body: request.body?.length)
                    : LibcurlSupport.defaultUploadBuffer)
        }
        if running <= LibcurlSupport.fewTransfers { transfer.widenFlow() }
    }

    private func attach(_ upload: UploadChannel, to transfer: Transfer) {
        let mailbox = mailbox
        upload.onMore { [weak transfer] in
            // A loop that has ended has closed the channel.
            if let transfer { _ = mailbox.post(.resume(transfer)) }
        }
    }

    private func admit(_ turns: [Admission.Turn]) {
        for turn in turns {
            state.slots[turn.slot]?.isAdmitted = true
            state.slots[turn.slot]?.isLookingUp = turn.isLookingUp
            state.admitted.append(turn.slot)
        }
    }

    /// A transfer has come past the look-up of its name.
    private func resolved(_ transfer: Transfer) {
        guard transfer.isLookingUp else { return }
        transfer.isLookingUp = false
        admit(state.admission.resolved(transfer.origin))
    }

    /// libcurl's timer is due: it begins with what was added, too.
    private func callForTimer(havingBegun begun: Int) {
        multiDeadline = nil
        let start = begun > 1 ? MonotonicTime.now : nil
        act { $0.timerDue() }
        if let start { pace.note(begun, from: start, to: .now) }
        takeDone()
    }

    /// - Returns: How many were given to libcurl that may need a TLS connection.
    private func beginAdmitted() -> Int {
        guard !state.admitted.isEmpty else { return 0 }
        var share = RoundShare()
        var (count, secure) = (0, 0)
        while count < min(state.admitted.count, Self.beginsOfARound), secure < pace.count {
            let slot = state.admitted[count]
            count += 1
            // The one who was admitted may have ended meanwhile, and the slot may be another's.
            guard let transfer = state.slots[slot], transfer.isAdmitted, !transfer.isInMulti else { continue }
            if transfer.origin.isSecure { secure += 1 }
            begin(transfer)
            if share.isSpent() { break }
        }
        state.admitted.removeFirst(count)
        return secure
    }

    /// libcurl connects all of them with its next call.
    private static let beginsOfARound = 16

    // MARK: Ends

    private func takeDone() {
        leavesDone = false
        var share = RoundShare()
        while let (transfer, code) = multi?.nextDone() {
            if let easy = transfer.easy {
                if transfer.needsFreshConnection, transfer.state.failure == nil, beginAgain(transfer, easy) { continue }
                transfer.channel.end(transfer.result(of: easy, code))
                transferWasTouched(transfer)
            }
            retire(transfer)
            if share.isSpent() {
                leavesDone = true
                return
            }
        }
    }

    /// Gives a transfer of which nothing was sent to libcurl once more, with a handle that takes a new connection.
    /// - Returns: Whether it runs; it does so once.
    private func beginAgain(_ transfer: Transfer, _ easy: EasyHandle) -> Bool {
        guard let multi, !transfer.hasBegunAgain else { return false }
        transfer.hasBegunAgain = true
        multi.remove(easy)
        transfer.isInMulti = false
        do {
            try transfer.prepareFresh()
            guard let fresh = transfer.easy else { return false }
            try multi.attach(to: fresh)
            wishBuffers(of: fresh, for: transfer)
            try multi.add(fresh)
        } catch {
            transfer.state.fail(error)
            return false
        }
        transfer.isInMulti = true
        return true
    }

    /// Ends a transfer from our side. Its caller learns now; libcurl lets go as soon as that blocks nothing.
    private func abandon(_ transfer: Transfer, _ error: any Error) {
        let isFirst = transfer.state.failure == nil
        transfer.state.fail(error)
        transfer.channel.finish(.failure(transfer.noted(error)))
        guard transfer.isInMulti else {
            return retire(transfer)
        }
        // While its name is looked up, a thread of libcurl's waits for the name service. Removing the handle would join
        // that thread, or, from 7.87 on, leave it behind uncounted. So the transfer stays until the look-up ends,
        // refusing whatever comes. DNS over HTTPS has no thread, but libcurl below 8.9 would leave the connections of
        // its requests open; they end by the connect timeout that they began with. The end of one behind a SOCKS proxy
        // may go unseen, so it is waited for no longer than the C library takes.
        if let easy = transfer.easy, transfer.lookUp.isUnderWay(at: clock.now), easy.canOutlastLookUp() {
            // Once: another transfer may resolve the name while this look-up hangs.
            if isFirst {
                let wasLookingUp = transfer.isLookingUp
                transfer.isLookingUp = state.admission.chill(transfer.origin, isLookingUp: wasLookingUp)
            }
            state.deadlines.set(transfer.slot, to: clock.now + Self.lookupCheck)
        } else {
            retire(transfer)
        }
    }

    /// When libcurl, asked to go on, sends what it kept at a pause, and asks for more again.
    private static let keptBytesCheck = Duration.milliseconds(10)

    /// How often an abandoned transfer is looked at. It has no other clock any more.
    private static let lookupCheck = Duration.milliseconds(100)

    /// Nobody wants the rest. A small one is read to its end, so that the connection can be kept.
    private func discard(_ transfer: Transfer) {
        guard let easy = transfer.easy, transfer.isInMulti, let announced = easy.announcedBytes,
            announced - easy.downloadedBytes <= Self.drainedBytes
        else { return abandon(transfer, NetworkError.cancelled) }
        transfer.clocks.drain(until: clock.now + Self.drainTime)
        check(transfer)
        resume(transfer)
    }

    /// Lets a paused transfer go on. What it held back is written at once, and a callback may refuse it.
    private func resume(_ transfer: Transfer) {
        clock.callShare = CallShare()
        guard transfer.isInMulti, let easy = transfer.easy, let code = multi?.resume(easy) else { return }
        transfer.channel.finish(transfer.result(of: easy, code))
        retire(transfer)
    }

    private static let drainedBytes = 65_536
    private static let drainTime = Duration.seconds(1)

    /// Lets those go on that were paused for the others' sake, each in a call of its own: in one call, they would share
    /// it.
    private func resumeYielding() {
        guard !state.yielding.isEmpty else { return }
        var share = RoundShare(from: .now)
        var (count, all) = (0, state.yielding.count)
        while count < all {
            let transfer = state.yielding[count]
            count += 1
            transfer.isYielding = false
            resume(transfer)
            if let due = multiDeadline, due <= clock.now { callForTimer(havingBegun: 0) }
            if share.isSpent() { all = count }
        }
        state.yielding.removeFirst(count)
    }

    /// Takes a transfer out of libcurl or out of the queue, and lets the next one in.
    private func retire(_ transfer: Transfer) {
        if transfer.isAdmitted {
            if transfer.spoilsConnection, let port = transfer.easy?.localPort { state.keptSockets.spoil(from: port) }
            if let easy = transfer.easy, transfer.isInMulti { multi?.remove(easy) }
            transfer.isInMulti = false
            admit(state.admission.leave(transfer.origin, isLookingUp: transfer.isLookingUp))
            transfer.isLookingUp = false
        } else {
            admit(state.admission.withdraw(transfer.slot, from: transfer.origin))
        }
        freeSlot(of: transfer)
    }

    private func freeSlot(of transfer: Transfer) {
        state.deadlines.remove(transfer.slot)
        state.slots[transfer.slot] = nil
        state.freeSlots.append(transfer.slot)
        transfer.slot = -1
        transfer.delegate = nil
        letGo(transfer)
    }

    private func letGo(_ transfer: Transfer) {
        transfer.closeUpload()
        transfer.letGo()
    }

    // MARK: Clocks

    private func checkClocks() {
        var share = RoundShare(stride: Self.stride)
        while let slot = state.deadlines.popDue(clock.now) {
            if let transfer = state.slots[slot] { check(transfer) }
            if share.isSpent() { return }
        }
    }

    private func check(_ transfer: Transfer) {
        if transfer.isInMulti, let failure = transfer.state.failure { return abandon(transfer, failure) }
        if transfer.keepsBytes {
            transfer.keepsBytes = false
            resume(transfer)
            // A faulty one has ended with it.
            guard transfer.isInMulti else { return }
        }
        var (isConnected, isSending) = (false, transfer.easy?.reader != nil)
        var waitsSince: MonotonicTime?
        if let admitted = transfer.clocks.admitted, let connectedAfter = transfer.easy?.connectedAfter {
            isConnected = true
            resolved(transfer)
            let connected = admitted + .microseconds(connectedAfter)
            if !transfer.state.hasFinalResponse { waitsSince = max(connected, transfer.state.wentOut ?? connected) }
            transfer.state.lastActivity = max(transfer.state.lastActivity, connected)
            if let easy = transfer.easy, let reader = easy.reader {
                let (sent, queued) = (easy.uploadedBytes, transfer.queuedBytes)
                transfer.state.sent(sent - queued, by: clock.now)
                isSending = queued > 0 || !reader.isWhole(sent: sent) || !transfer.state.hasResponse
            }
        }
        // A slow reader does not make the server idle, nor do the others.
        if transfer.isYielding || transfer.channel.isPaused { transfer.state.lastActivity = clock.now }
        let verdict = transfer.clocks.check(
            at: clock.now, isConnected: isConnected, lastActivity: transfer.state.lastActivity, isSending: isSending,
            waitsSince: waitsSince,
            waitsForLookUp: !transfer.isAdmitted && state.admission.isCold(transfer.origin))
        switch verdict {
        case .lookAgain(let time): state.deadlines.set(transfer.slot, to: time)
        case .neverAgain: state.deadlines.remove(transfer.slot)
        case .fail(let code): abandon(transfer, transfer.timeout(code))
        }
    }

    private func releaseMemoryWhenIdle() {
        guard transferCount == 0 else {
            hasReleased = false
            releaseDeadline = nil
            return
        }
        guard !hasReleased else { return }
        let due = releaseDeadline ?? clock.now + Self.idleTime
        hasReleased = due <= clock.now
        releaseDeadline = hasReleased ? nil : due
        if hasReleased {
            BufferMemory.shared.drop()
            CurlMemory.drop()
        }
    }

    /// How long a loop has nothing to do before memory is given back.
    private static let idleTime = Duration.seconds(1)

    // MARK: The end

    /// Instead of ``run()``, when there is no thread for it. A multi handle is closed and not dropped.
    func abandonStart() {
        multi?.close()
        multi = nil
    }

    private func end() {
        // What ended in this round has left its slot already.
        flushTouched()
        mailbox.close()
        var late: [LoopMessage] = []
        mailbox.take(into: &late, &jobs)
        // A round may have left some of its messages, too.
        for case .start(let transfer) in messages + late {
            transfer.channel.finish(.failure(NetworkError.shutDown))
            letGo(transfer)
        }
        for transfer in state.slots {
            guard let transfer else { continue }
            transfer.channel.finish(.failure(NetworkError.shutDown))
            if let easy = transfer.easy, transfer.isInMulti { multi?.remove(easy) }
            letGo(transfer)
        }
        state.slots = []
        state.yielding = []
        messages = []
        multi?.close()
        multi = nil
        for job in jobs { LoopExecutor.runElsewhere(job) }
        jobs = []
    }

    /// Calls libcurl. A fault of the multi handle leaves every transfer undefined: they all fail, and the loop goes on
    /// with a new one, or ends if there is none to be had.
    private func act(_ call: (MultiHandle) -> NetworkError.Underlying?) {
        clock.callShare = CallShare()
        guard let multi, let fault = call(multi) else { return }
        let error = NetworkError(.unclassified, "the curl loop failed and was rebuilt", underlying: fault)
        let broken = state.slots.compactMap(\.self).filter(\.isInMulti)
        for transfer in broken {
            transfer.channel.finish(.failure(error))
            retire(transfer)
        }
        multi.close()
        multiDeadline = nil
        self.multi = try? MultiHandle(loop: self, connections: keptConnections)
        if self.multi == nil { shutDownDeadline = clock.now }
    }
}

extension LoopCore: TransferDelegate {
    func transferWasTouched(_ transfer: Transfer) {
        guard !transfer.isTouched else { return }
        transfer.isTouched = true
        state.touched.append(transfer)
    }

    func transferKeepsBytes(_ transfer: Transfer) {
        guard !transfer.keepsBytes else { return }
        transfer.keepsBytes = true
        state.deadlines.set(transfer.slot, to: clock.now + Self.keptBytesCheck)
    }

    func transferYields(_ transfer: Transfer) {
        guard !transfer.isYielding else { return }
        transfer.isYielding = true
        state.yielding.append(transfer)
    }

    func transfer(_ transfer: Transfer, opened descriptor: Int32) {
        state.sockets.opened(descriptor)
        transfer.openedSockets.append(descriptor)
        transfer.lookUp.socketOpened()
        if !transfer.looksUpBehindProxy { resolved(transfer) }
    }

    func transferGoesOutAgain(_ transfer: Transfer) { state.deadlines.set(transfer.slot, to: clock.now) }

    /// Bytes, or an end, that wait on a kept connection answer no request: this one would take them for its response.
    /// In HTTP/2 a server may say other things at any time; under TLS 1.3 it says them before its first response, which
    /// comes behind them.
    func transfer(_ transfer: Transfer, goesOutFrom localPort: Int) -> Bool {
        for descriptor in transfer.openedSockets where LocalPort.of(descriptor) == localPort {
            state.keptSockets.made(descriptor, from: localPort, serves: !transfer.isPrewarming)
            return true
        }
        guard let kept = state.keptSockets.use(from: localPort, serves: !transfer.isPrewarming) else { return true }
        if kept.isSpoiled { return false }
        guard transfer.speaksHTTP1, kept.hasServed || !transfer.origin.isSecure else { return true }
        return !ReceiveQueue.holdsAnything(kept.descriptor)
    }

    func transferHasConnection(_ transfer: Transfer) { resolved(transfer) }
}

extension LoopCore: MultiHandleDelegate {
    func multiWants(_ interest: SocketInterests.Interest, of descriptor: Int32) {
        if let change = state.sockets.want(interest, of: descriptor) { epoll.apply(change) }
    }

    func multiWantsTimer(milliseconds: Int?) {
        // 0 is 'at once': as of the round's own clock, or the wait would round it up to a millisecond.
        multiDeadline = milliseconds.map { $0 == 0 ? clock.now : MonotonicTime.now.adding(milliseconds: $0) }
    }

    func multiWillClose(_ descriptor: Int32) {
        state.sockets.closed(descriptor)
        state.keptSockets.closed(descriptor)
        epoll.forget(descriptor)
    }
}

extension NetworkError {
    fileprivate static var overloaded: NetworkError {
        NetworkError(.overloaded, "too many requests wait already (maximumWaiting)", phase: .queued)
    }
}
