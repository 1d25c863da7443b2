import Dispatch
import NetworkCore
import Synchronization

/// A timer that can be set again.
final class Alarm: Sendable {
    private let timer: Guarded<any DispatchSourceTimer>

    /// - Parameter ring: Called on the queue each time a deadline passes.
    init(on queue: DispatchQueue, ring: @escaping @Sendable () -> Void) {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler(handler: ring)
        timer.schedule(deadline: .distantFuture)
        // A source that was never resumed must not be released.
        timer.resume()
        self.timer = Guarded(timer)
    }

    deinit { cancel() }

    /// Sets the only time at which the alarm rings; `nil` for never.
    func set(for deadline: ContinuousClock.Instant?) {
        let time: DispatchTime =
            deadline.map { .now() + .milliseconds(max(($0 - .now).roundedUpMilliseconds, 1)) } ?? .distantFuture
        timer.withLock { $0.schedule(deadline: time, leeway: .milliseconds(1)) }
    }

    /// Cancels the alarm for good.
    func cancel() { timer.withLock { $0.cancel() } }
}
