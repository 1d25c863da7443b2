/// The messages to the loop's thread, which are its whole API. A message names a transfer by its object, which is never
/// reused, so a late message can't hit another transfer.
enum LoopMessage: Sendable {
    case start(Transfer)
    case cancel(Transfer)
    /// The transfer's reader has made room.
    case resume(Transfer)
    /// The transfer's reader is gone.
    case discard(Transfer)
    /// The loop accepts no more starts, and ends when nothing is left, at the deadline at the latest.
    case shutDown(deadline: MonotonicTime)
}
