import CCurl
import CLibrary
import NetworkCore

/// Owns one `CURLM *`. Only the loop's thread uses it; it reports libcurl's interest in descriptors and timers to its
/// ``Pool``.
@safe final class MultiHandle {
    private let pointer: UnsafeMutableRawPointer
    /// Owns this handle, so no reference counting is needed.
    private unowned(unsafe) let delegate: any MultiHandleDelegate
    private var isClosed = false
    /// The thread that uses this handle, for the checks of unoptimized builds.
    private var thread = ThreadIdentity.none
    /// The TLS sessions of all handles here (CURLSH): a session that one handle received lets the next connection to
    /// the same server with the same TLS options start with a shorter handshake. Without the share, a session would go
    /// with its handle. Only the loop's thread uses it, so it has no locks; `nil` without memory for it.
    private let sessions: UnsafeMutableRawPointer?

    /// - Parameters:
    ///   - delegate: The receiver of the events, which owns this handle.
    ///   - connections: The number of connections to keep, including those in use (CURLMOPT_MAXCONNECTS).
    ///   - allConnections: The number of connections before a new one takes the place of the one that has been idle
    ///     longest (CURLMOPT_MAX_TOTAL_CONNECTIONS). Where all of them are in use, libcurl lets the transfer wait, and
    ///     the caller must see to it that this does not happen.
    init(delegate: any MultiHandleDelegate, connections: Int, allConnections: Int) throws {
        guard let pointer = unsafe curl_multi_init() else {
            throw NetworkError(.unclassified, "libcurl could not make a multi handle (curl_multi_init)")
        }
        unsafe self.pointer = pointer
        unsafe self.delegate = delegate
        unsafe sessions = curl_share_init()
        if let sessions = unsafe sessions { _ = unsafe ccurl_share_tls_sessions(sessions) }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe ccurl_multi_setopt_long(pointer, CURLMOPT_MAXCONNECTS, connections)
        _ = unsafe ccurl_multi_setopt_long(pointer, CURLMOPT_MAX_TOTAL_CONNECTIONS, allConnections)
        _ = unsafe ccurl_multi_setopt_long(pointer, CURLMOPT_PIPELINING, ccurl_pipe_multiplex)
        // Cleanup does not wait for a name server that hangs. Below 8.20 each handle's own option counts.
        _ = unsafe ccurl_multi_setopt_long(pointer, ccurl_mopt_quick_exit, 1)
        _ = unsafe ccurl_multi_setopt_socket_callback(pointer, Self.socketCallback)
        _ = unsafe ccurl_multi_setopt_pointer(pointer, CURLMOPT_SOCKETDATA, context)
        _ = unsafe ccurl_multi_setopt_timer_callback(pointer, Self.timerCallback)
        _ = unsafe ccurl_multi_setopt_pointer(pointer, CURLMOPT_TIMERDATA, context)
    }

    /// Closes the kept connections, which calls the delegate once more: so call it on the loop's thread while the loop
    /// is whole, and not in a `deinit`. Every handle must have been closed.
    func close() {
        assert(isOnItsThread())
        unsafe curl_multi_cleanup(pointer)
        if let sessions = unsafe sessions { unsafe curl_share_cleanup(sessions) }
        isClosed = true
    }

    deinit { precondition(isClosed, "a multi handle was dropped without being closed") }

    /// Whether the calling thread is the one that uses this handle: the first that asked.
    private func isOnItsThread() -> Bool {
        if thread == ThreadIdentity.none { thread = ThreadIdentity.current }
        return thread == ThreadIdentity.current
    }

    /// Gives libcurl a handle.
    /// - Parameter slot: The loop's index, by which ``nextDone()`` names it.
    func add(_ easy: EasyHandle, slot: Int) throws {
        assert(isOnItsThread())
        easy.slot = slot
        easy.thread = thread
        let code = unsafe curl_multi_add_handle(pointer, easy.pointer)
        guard code == CURLM_OK else {
            throw NetworkError(
                .unclassified,
                "libcurl refused the transfer",
                phase: .preparing,
                underlying: Self.underlying(code)
            )
        }
    }

    func remove(_ easy: EasyHandle) {
        assert(isOnItsThread())
        unsafe curl_multi_remove_handle(pointer, easy.pointer)
    }

    /// Resumes a paused transfer, which may call its callbacks at once. libcurl refuses for a transfer without a
    /// connection, but there nothing is paused.
    /// - Returns: The fault that ended the transfer, or `nil`. Older libcurls report it here only.
    func resume(_ easy: EasyHandle) -> CurlCode? {
        assert(isOnItsThread())
        let code = unsafe curl_easy_pause(easy.pointer, ccurl_pause_continue)
        return code == CURLE_OK || code == CURLE_BAD_FUNCTION_ARGUMENT ? nil : CurlCode(code)
    }

    /// Makes libcurl process a connecting transfer in its next call, by a pause that is lifted at once: nothing arrives
    /// or goes out meanwhile.
    /// - Returns: The fault that ended the transfer, or `nil`.
    func nudge(_ easy: EasyHandle) -> CurlCode? {
        assert(isOnItsThread())
        let code = unsafe curl_easy_pause(easy.pointer, ccurl_pause_receiving)
        return code == CURLE_OK ? resume(easy) : code == CURLE_BAD_FUNCTION_ARGUMENT ? nil : CurlCode(code)
    }

    /// Reports an event on a descriptor to libcurl.
    /// - Returns: The fault after which the state of every transfer is undefined, or `nil`.
    func socketReady(_ event: Epoll.Event) -> NetworkError.Underlying? {
        var mask: Int32 = 0
        if event.isReadable { mask |= ccurl_select_in }
        if event.isWritable { mask |= ccurl_select_out }
        if event.hasError { mask |= ccurl_select_err }
        return act(event.descriptor, mask)
    }

    /// Notifies libcurl that its timer is due, or that handles were added.
    /// - Returns: The fault after which the state of every transfer is undefined, or `nil`.
    func timerDue() -> NetworkError.Underlying? { act(ccurl_socket_timeout, 0) }

    private func act(_ descriptor: curl_socket_t, _ mask: Int32) -> NetworkError.Underlying? {
        assert(isOnItsThread())
        var running: Int32 = 0
        let code = unsafe curl_multi_socket_action(pointer, descriptor, mask, &running)
        return code == CURLM_OK ? nil : Self.underlying(code)
    }

    /// Returns the slot of the next transfer that has ended, with libcurl's result code.
    func nextDone() -> (slot: Int, code: CurlCode)? {
        var code = CURLE_OK
        guard let easy = unsafe ccurl_multi_next_done(pointer, &code), let handle = unsafe EasyHandle.of(easy) else {
            return nil
        }
        return (handle.slot, CurlCode(code))
    }

    // MARK: Descriptors

    /// Lets the transfer share TLS sessions, and open and close its sockets through our callbacks: they set
    /// close-on-exec, which libcurl does not set below 8.19, and notify the loop. The open callback belongs to the
    /// transfer, the close callback to the connection, which outlives the transfer.
    func attach(to easy: EasyHandle) throws {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        try unsafe easy.check(
            ccurl_easy_setopt_open_socket_callback(easy.pointer, Self.openCallback), "CURLOPT_OPENSOCKETFUNCTION")
        try unsafe easy.check(
            ccurl_easy_setopt_pointer(easy.pointer, CURLOPT_OPENSOCKETDATA, easy.context), "CURLOPT_OPENSOCKETDATA")
        try unsafe easy.check(
            ccurl_easy_setopt_close_socket_callback(easy.pointer, Self.closeCallback), "CURLOPT_CLOSESOCKETFUNCTION")
        try unsafe easy.check(
            ccurl_easy_setopt_pointer(easy.pointer, CURLOPT_CLOSESOCKETDATA, context), "CURLOPT_CLOSESOCKETDATA")
        if let sessions = unsafe sessions {
            try unsafe easy.check(ccurl_easy_setopt_pointer(easy.pointer, CURLOPT_SHARE, sessions), "CURLOPT_SHARE")
        }
    }

    /// Calls close(2), which this type's own method hides.
    private static func closeDescriptor(_ descriptor: Int32) -> Int32 {
        CLibrary.close(descriptor)
    }

    /// Calls `body` with the receiver of the events of a callback's context.
    private static func report(_ context: UnsafeMutableRawPointer, _ body: (any MultiHandleDelegate) -> Void) {
        unsafe Unmanaged<MultiHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { multi in
            assert(multi.isOnItsThread())
            unsafe body(multi.delegate)
        }
    }

    private static let socketCallback: ccurl_socket_callback = { easy, descriptor, interest, context, _ in
        guard let context = unsafe context else { return 0 }
        var wanted: Epoll.Interest = []
        if interest == ccurl_poll_in || interest == ccurl_poll_inout { wanted.insert(.read) }
        if interest == ccurl_poll_out || interest == ccurl_poll_inout { wanted.insert(.write) }
        if let easy = unsafe easy { unsafe EasyHandle.report(of: easy) { $0.waits(on: descriptor, for: wanted) } }
        unsafe report(context) { $0.multiWants(wanted, of: descriptor) }
        return 0
    }

    private static let timerCallback: ccurl_timer_callback = { _, milliseconds, context in
        guard let context = unsafe context else { return 0 }
        unsafe report(context) { $0.multiWantsTimer(milliseconds: milliseconds < 0 ? nil : milliseconds) }
        return 0
    }

    private static let openCallback: ccurl_open_socket_callback = { context, _, address in
        guard let easy = unsafe EasyHandle.of(context: context), let pointer = unsafe address else {
            return ccurl_socket_bad
        }
        easy.hasRun = true
        let (events, address) = unsafe (easy.events, SocketAddress(pointer))
        guard events.mayConnect(to: address) else { return ccurl_socket_bad }
        let descriptor = address.open()
        if descriptor >= 0 { events.socketOpened(descriptor) } else { events.socketFailed(errno) }
        return descriptor
    }

    private static let closeCallback: ccurl_close_socket_callback = { context, descriptor in
        if let context = unsafe context { unsafe report(context) { $0.multiWillClose(descriptor) } }
        return closeDescriptor(descriptor)
    }

    private static func underlying(_ code: CURLMcode) -> NetworkError.Underlying {
        unsafe NetworkError.Underlying(
            domain: "libcurl multi",
            code: Int(code.rawValue),
            message: curl_multi_strerror(code).map { unsafe String(cString: $0) } ?? "unknown"
        )
    }
}

/// The events that a multi handle reports to its pool, always on the loop's thread and inside libcurl.
protocol MultiHandleDelegate: AnyObject {
    func multiWants(_ interest: Epoll.Interest, of descriptor: Int32)
    func multiWantsTimer(milliseconds: Int?)
    func multiWillClose(_ descriptor: Int32)
}
