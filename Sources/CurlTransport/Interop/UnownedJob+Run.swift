extension UnownedJob {
    /// Runs the job to its next `await` on the calling thread, which is the executor's.
    func run(on executor: some TaskExecutor) { unsafe runSynchronously(on: executor.asUnownedTaskExecutor()) }
}
