import NetworkCore

/// The pools: which one carries a transfer, and when it ends.
extension LoopCore: PoolDelegate {
    /// Returns the place of a transfer's connections; `nil` if it has to wait for a pool to become idle.
    /// - Throws: ``NetworkError`` without memory for a pool.
    func destination(of transfer: Transfer) throws -> Destination? {
        if let known = transfer.plan.destination, known.pool != nil { return known }
        guard let pool = try pool(of: transfer.plan.key, for: transfer.origin) else { return nil }
        let destination = pool.destination(of: transfer.origin)
        transfer.plan.destination = destination
        return destination
    }

    private func pool(of key: ConnectionKey, for origin: Origin) throws -> Pool? {
        if let pool = state.pools.pool(of: key, for: origin) { return pool }
        if state.pools.all.count >= limits.pools {
            // More origins than a pool should have cost time; a wait for another kind's end may cost the request.
            guard let idle = state.pools.oldestIdle else { return state.pools.roomiest(of: key) }
            close(idle)
        }
        let pool = try Pool(
            key, number: state.pools.nextNumber, loop: self, connections: limits.inAll,
            lookUps: 2 * Admission.maximumLookUps)
        state.pools.insert(pool)
        if tendDeadline == nil { tendDeadline = clock.now + Self.tendInterval }
        return pool
    }

    /// Closes a pool and its connections. No transfer may be left in it.
    func close(_ pool: Pool) {
        state.pools.remove(pool)
        pool.close()
    }

    private static let tendInterval = Duration.seconds(5)

    /// Closes pools that have been idle for as long as a connection may be, and more of them where there are too many;
    /// forgets origins that are idle.
    func tendPools() {
        if state.sockets.openCount > limits.inAll, let idle = state.pools.oldestIdle { close(idle) }
        guard let tendDeadline, tendDeadline <= clock.now else { return }
        while let idle = state.pools.oldestIdle,
            idle.lastUsed + Pool.maximumIdle <= clock.now || state.pools.idleCount > PoolTable.maximumIdle
        {
            close(idle)
        }
        for pool in state.pools.all { pool.forgetIdleOrigins() }
        self.tendDeadline = state.pools.all.isEmpty ? nil : clock.now + Self.tendInterval
    }

    /// Releases the memory that only speeds up the next requests.
    func dropMemory() {
        for pool in state.pools.all { pool.dropHandles() }
        IdleMemory.drop()
    }

    /// Lets the transfers that wait for a pool look again, in order: one of them may have ended meanwhile.
    func poolIsIdle() {
        guard !state.waitingForPool.isEmpty else { return }
        state.admitted += state.waitingForPool
        state.waitingForPool = []
    }

    // MARK: The events of a pool

    func pool(_ pool: Pool, wants interest: Epoll.Interest, of descriptor: Int32) {
        guard let change = state.sockets.want(interest, of: descriptor, by: pool.number) else { return }
        // libcurl opened this socket itself, to look a name up over HTTPS; no child process may inherit it.
        if change.kind == .add { Descriptor.closeOnExec(descriptor) }
        epoll.apply(change)
    }

    func poolWillClose(_ descriptor: Int32) {
        state.sockets.closed(descriptor)
        state.figures.closed(descriptor)
        state.keptSockets.closed(descriptor)
        epoll.forget(descriptor)
        if let transfer = state.openers.removeValue(forKey: descriptor)?.transfer, transfer.state.run.connection == nil
        {
            state.refused.append(transfer)
        }
    }
}
