import CLibrary

/// Returns the time that all threads of this process have computed.
func processorTime() -> Duration {
    var time = timespec()
    precondition(unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
