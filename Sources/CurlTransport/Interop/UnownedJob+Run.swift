extension UnownedJob {
    /// Runs the job until its next `await` on the calling thread, which is the executor's.
    func run(on executor: LoopExecutor) { unsafe runSynchronously(on: executor.asUnownedTaskExecutor()) }
}
