import Foundation
import Testing

extension Trait where Self == ConditionTrait {
    /// For a suite that keeps URLSession busy.
    ///
    /// All URLSessions of a process share one queue, and each request that waits for its response keeps that queue
    /// busy: beside the other suites such a one would starve them, and their timeouts would come first. `scripts/test`
    /// runs these suites in a process of their own.
    static var ownProcess: Self {
        .enabled(
            if: ProcessInfo.processInfo.environment["NETWORKLAYER_OWN_PROCESS"] != nil,
            "needs a process of its own: scripts/test"
        )
    }
}
