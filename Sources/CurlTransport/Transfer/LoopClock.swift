/// The loop's time, read once per round, and the callbacks' share of it, which starts over with each call of libcurl.
///
/// @unchecked: only the loop's thread writes and reads it.
final class LoopClock: @unchecked Sendable {
    var now = MonotonicTime.now
    private let ownShare = Unshared(CallShare())
    /// What the current call of libcurl may still hand out.
    var callShare: CallShare {
        @inline(__always) _read { yield ownShare.value }
        @inline(__always) _modify { yield &ownShare.value }
    }
    /// The number of the current call of libcurl.
    private(set) var call = 0

    /// Prepares for the next call of libcurl.
    func beginCall() {
        callShare = CallShare()
        call &+= 1
    }
}
