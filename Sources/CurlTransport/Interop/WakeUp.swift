import CCurl
import CLibrary
import NetworkCore

/// An eventfd: any thread signals it, and the loop's epoll sees it.
final class WakeUp: Sendable {
    let descriptor: Int32

    init() throws {
        descriptor = eventfd(0, ccurl_eventfd_flags)
        guard descriptor >= 0 else { throw NetworkError.systemCall("eventfd") }
    }

    deinit { close(descriptor) }

    /// Makes the descriptor readable. Can only fail by overflow, which also leaves it readable.
    func signal() { eventfd_write(descriptor, 1) }

    /// Makes the descriptor not readable again.
    func clear() {
        var count: eventfd_t = 0
        unsafe eventfd_read(descriptor, &count)
    }
}

extension NetworkError {
    /// Returns the error of a system call that failed just now, with errno's text.
    static func systemCall(_ name: String) -> NetworkError {
        let number = errno
        return NetworkError(
            .unclassified,
            "\(name) failed",
            phase: .preparing,
            underlying: .errno(number)
        )
    }
}

extension NetworkError.Underlying {
    /// The system's number and description of an error.
    static func errno(_ number: Int32) -> Self {
        unsafe Self(domain: "errno", code: Int(number), message: String(cString: strerror(number)))
    }
}
