import Foundation
import NetworkLayer
import Synchronization

/// A time source whose pauses end at once and are recorded.
final class RecordedPauses: Sendable {
    private let pauses = Guarded<[Duration]>([])

    var all: [Duration] { pauses.withLock(\.self) }

    var time: TimeSource {
        TimeSource(
            now: { Date() },
            sleep: { pause in
                try Task.checkCancellation()
                self.pauses.withLock { $0.append(pause) }
            },
            random: { 0.5 }
        )
    }
}
