/// The loop's time, read once per round, and the callbacks' share of it, which starts over with each call of libcurl.
///
/// @unchecked: only the loop's thread writes and reads it.
final class LoopClock: Unshared<CallShare>, @unchecked Sendable {
    var now = MonotonicTime.now
    /// The number of the current call of libcurl.
    private(set) var call = 0

    init() { super.init(CallShare()) }

    /// Prepares for the next call of libcurl.
    func beginCall() {
        state = CallShare()
        call &+= 1
    }
}
