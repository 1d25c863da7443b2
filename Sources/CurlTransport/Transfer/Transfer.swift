import HTTPTypes
import NetworkCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a transfer ends with, parsed on the caller's side.
struct RawResponse: Sendable {
    let headBytes: [UInt8]
    let body: Data
    let metrics: TransportMetrics
}

/// One exchange from submission to its end.
///
/// @unchecked: `request`, `origin` and `outcome` never change; everything below 'loop side' is touched by the loop's
/// thread alone once the transfer was posted, and by its maker before.
final class Transfer: @unchecked Sendable {
    let request: TransportRequest
    let origin: Origin
    let outcome = FirstOutcome<RawResponse>()
    /// Set by the first canceller, so that a cancel that comes before the start is remembered.
    let isCancelled = Atomic(false)

    // MARK: Loop side

    /// The loop's index for it; -1 outside.
    var slot = -1
    var easy: EasyHandle?
    var state: TransferState
    var clocks: TransferClocks
    var body = BodyBuffer()
    /// Whether its turn has come, and whether libcurl has it.
    var isAdmitted = false
    var isInMulti = false
    /// Where the time of callbacks comes from: the loop's, read once per round.
    let clock: LoopClock

    init(_ request: TransportRequest, easy: EasyHandle, clock: LoopClock) {
        let now = MonotonicTime.now
        self.request = request
        self.easy = easy
        self.clock = clock
        origin = Origin(
            isSecure: request.url.scheme == "https", host: request.url.host, port: request.url.effectivePort)
        state = TransferState(bodyLimit: request.options.maximumBodyBytes, now: now)
        clocks = TransferClocks(sent: now, options: request.options)
    }

    /// The time since `send`.
    var elapsed: Duration { MonotonicTime.now - clocks.sent }
}

/// The loop's time, read once per round.
///
/// @unchecked: written and read by the loop's thread alone.
final class LoopClock: @unchecked Sendable {
    var now = MonotonicTime.now
}
