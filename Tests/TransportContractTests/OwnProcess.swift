import Foundation
import Testing

extension Trait where Self == ConditionTrait {
    /// Enables a suite that keeps URLSession busy only in a process of its own.
    ///
    /// All URLSessions of a process share one queue, and each request that waits for its response keeps that queue
    /// busy. Such a suite would starve the others until their timeouts expire. `scripts/test` runs these suites in a
    /// process of their own.
    static var ownProcess: Self {
        .enabled(
            if: ProcessInfo.processInfo.environment["NETWORKLAYER_OWN_PROCESS"] != nil,
            "needs a process of its own: scripts/test"
        )
    }
}
