/// What the loop's thread can be told; its whole API. A transfer is named by its object, which is never reused, so that
/// a late message can't hit another.
enum LoopMessage: Sendable {
    case start(Transfer)
    case cancel(Transfer)
    /// Its reader has made room.
    case resume(Transfer)
    /// Its reader has gone.
    case discard(Transfer)
    /// No more starts; the end when nothing is left, at the latest at the deadline.
    case shutDown(deadline: MonotonicTime)
}
