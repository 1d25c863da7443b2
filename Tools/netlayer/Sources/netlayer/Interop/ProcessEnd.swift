import Foundation

enum ProcessEnd {
    /// Ends the process without running what is registered for its exit.
    static func now(_ status: Int32) -> Never { _exit(status) }
}
