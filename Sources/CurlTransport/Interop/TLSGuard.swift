import CCurl
import CLibrary

/// Watches what a TLS connection reads, where libcurl does not.
///
/// It ends a connection whose peer sends an endless sequence of records without data: HelloRequests in place of a
/// response to the ClientHello, or session tickets after the handshake.
///
/// OpenSSL reads such records in one call for as long as they come, and occupies the loop's thread meanwhile. It
/// reports each record and message (SSL_CTX_set_msg_callback), and the guard counts the reports. SSL_MODE_AUTO_RETRY
/// stays on, so OpenSSL continues after a message: without it libcurl would wait for the socket while the rest of a
/// record waits in OpenSSL. A connection with one report too many reads nothing more (BIO_set_callback_ex): each
/// further read fails.
///
/// The guard also reports an error when a connection ends without TLS's announcement (RFC 8446 §6.1), where libcurl
/// takes that for the end of a body without a length (``LibcurlSupport/Quirk/cutBodiesAreWhole``).
///
/// The callback replaces libcurl's own, so the wire log has no TLS messages. Its cost for a resumed connection is lost
/// in the noise (2026-11-22, minimum of six runs, microseconds without and with: 8.14.1 1,333 and 1,449, 8.23 1,239 and
/// 1,297).
enum TLSGuard {
    /// The text of the error that OpenSSL hands to libcurl.
    static let words: StaticString = "TLS records without data"

    private static let cutOffWords: StaticString = "the connection ended without TLS's close_notify"

    /// Whether the guard works with the TLS library that libcurl uses.
    static var isBounded: Bool { functions != nil }

    /// CURLOPT_SSL_CTX_FUNCTION, which libcurl calls for each TLS connection, a proxy's included.
    static let prepare: ccurl_tls_callback = { _, context, _ in
        if let context = unsafe context { unsafe functions?.prepare(context) }
        return CURLE_OK
    }

    /// Returns the count of one connection after a report. A record without data weighs more than the 32 empty records
    /// that OpenSSL accepts in a row, so that such records in between don't allow more of the others.
    static func count(_ count: UInt, hasData: Bool) -> UInt { hasData ? count - min(count, 1) : count + weight }

    /// Five hundred records or messages, which is 20 ms of session tickets. A handshake has about ten of each. A
    /// certificate chain of 100 KB, all that OpenSSL accepts, in records of 512 bytes, the smallest that a client can
    /// request, has 200.
    static let maximum = 500 * weight
    private static let weight: UInt = 128

    private typealias Report =
        @convention(c) (
            Int32, Int32, Int32, UnsafeRawPointer?, Int, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
        ) -> Void

    private static let received: Report = { isSent, _, type, bytes, length, session, _ in
        guard isSent == 0, length > 0, let bytes = unsafe bytes, let session = unsafe session else { return }
        // SSL3_RT_HEADER and SSL3_RT_INNER_CONTENT_TYPE begin with the record's type. Everything else is a message.
        let hasData = unsafe (type == 256 || type == 257) && bytes.load(as: UInt8.self) == 23
        unsafe functions?.count(session, hasData: hasData)
    }

    private typealias Reads =
        @convention(c) (
            UnsafeMutableRawPointer, Int32, UnsafePointer<CChar>?, Int, Int32, Int, Int32, UnsafeMutablePointer<Int>?
        ) -> Int

    /// Fails a read of a connection that the guard has ended. It sets the error each time, since libcurl ignores the
    /// error of a read that finds the socket empty. BIO_CB_READ is 2.
    private static let refused: Reads = { source, operation, _, _, _, _, result, _ in
        guard operation == 2 else { return Int(result) }
        unsafe functions?.refuse(source)
        return -1
    }

    /// Reports a read that finds the connection's end as unannounced: after close_notify OpenSSL does not read. The
    /// operation is BIO_CB_READ with BIO_CB_RETURN.
    private static let cutOff: Reads = { _, operation, _, _, _, _, result, _ in
        if operation == 2 | 0x80, result == 0 { functions?.report(.cutOff) }
        return Int(result)
    }

    /// An error of ours, by OpenSSL's number for its text.
    private enum Reason: Int32 { case flood = 100, cutOff }

    private static let functions: Functions? = OpenSSL.library == nil ? nil : Functions()

    /// The OpenSSL functions that the guard needs, and the numbers that OpenSSL assigned to it.
    @safe private struct Functions: Sendable {
        typealias SetReport = @convention(c) (UnsafeMutableRawPointer, Report) -> Void
        typealias Get = @convention(c) (UnsafeRawPointer, Int32) -> UnsafeMutableRawPointer?
        typealias Set = @convention(c) (UnsafeMutableRawPointer, Int32, UnsafeMutableRawPointer?) -> Int32
        typealias Source = @convention(c) (UnsafeRawPointer) -> UnsafeMutableRawPointer?
        typealias SetReads = @convention(c) (UnsafeMutableRawPointer, Reads) -> Void
        typealias IsFinished = @convention(c) (UnsafeRawPointer) -> Int32
        typealias ClearFlags = @convention(c) (UnsafeMutableRawPointer, Int32) -> Void
        typealias NewIndex =
            @convention(c) (
                Int32, Int, UnsafeMutableRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?
            ) -> Int32
        typealias NewLibrary = @convention(c) () -> Int32
        typealias LoadStrings = @convention(c) (Int32, UnsafeMutableRawPointer) -> Int32
        /// ERR_put_error, below OpenSSL 3.
        typealias Put = @convention(c) (Int32, Int32, Int32, UnsafePointer<CChar>?, Int32) -> Void
        typealias New = @convention(c) () -> Void

        private let setReport: SetReport
        private let get: Get
        private let set: Set
        private let source: Source
        private let setReads: SetReads
        private let clearFlags: ClearFlags
        private let isFinished: IsFinished
        private let seesNoCut = Libcurl.found.suffers(from: .cutBodiesAreWhole)
        /// The index of a connection's count, stored in place of a pointer, so that nothing is owned or freed.
        private let index: Int32
        /// The number under which OpenSSL knows our errors.
        private let library: Int32
        private let put: Put?
        private let new: New?
        /// ERR_set_error, which has variable arguments.
        private let setError: Int

        init?() {
            guard let report = unsafe dlsym(nil, "SSL_CTX_set_msg_callback"),
                let get = unsafe dlsym(nil, "SSL_get_ex_data"), let set = unsafe dlsym(nil, "SSL_set_ex_data"),
                let source = unsafe dlsym(nil, "SSL_get_rbio"),
                let setReads = unsafe dlsym(nil, "BIO_set_callback_ex"),
                let clearFlags = unsafe dlsym(nil, "BIO_clear_flags"),
                let isFinished = unsafe dlsym(nil, "SSL_is_init_finished"),
                let newIndex = unsafe dlsym(nil, "CRYPTO_get_ex_new_index"),
                let newLibrary = unsafe dlsym(nil, "ERR_get_next_error_library"),
                let load = unsafe dlsym(nil, "ERR_load_strings")
            else { return nil }
            unsafe put = dlsym(nil, "ERR_put_error").map { unsafe unsafeBitCast($0, to: Put.self) }
            unsafe new = dlsym(nil, "ERR_new").map { unsafe unsafeBitCast($0, to: New.self) }
            setError = unsafe Int(bitPattern: dlsym(nil, "ERR_set_error"))
            guard unsafe put != nil || new != nil && setError != 0 else { return nil }
            // CRYPTO_EX_INDEX_SSL.
            index = unsafe unsafeBitCast(newIndex, to: NewIndex.self)(0, 0, nil, nil, nil, nil)
            guard index >= 0 else { return nil }
            unsafe setReport = unsafeBitCast(report, to: SetReport.self)
            unsafe self.get = unsafeBitCast(get, to: Get.self)
            unsafe self.set = unsafeBitCast(set, to: Set.self)
            unsafe self.source = unsafeBitCast(source, to: Source.self)
            unsafe self.setReads = unsafeBitCast(setReads, to: SetReads.self)
            unsafe self.clearFlags = unsafeBitCast(clearFlags, to: ClearFlags.self)
            unsafe self.isFinished = unsafeBitCast(isFinished, to: IsFinished.self)
            library = unsafe unsafeBitCast(newLibrary, to: NewLibrary.self)()
            // ERR_STRING_DATA, ended by an entry of zeros. OpenSSL keeps the list: never freed.
            let texts = UnsafeMutablePointer<(UInt, UInt)>.allocate(capacity: 3)
            unsafe texts.initialize(repeating: (0, 0), count: 3)
            unsafe texts[0] = (UInt(Reason.flood.rawValue), UInt(bitPattern: words.utf8Start))
            unsafe texts[1] = (UInt(Reason.cutOff.rawValue), UInt(bitPattern: cutOffWords.utf8Start))
            _ = unsafe unsafeBitCast(load, to: LoadStrings.self)(library, texts)
        }

        /// Sets up the connections of a context (SSL_CTX).
        func prepare(_ context: UnsafeMutableRawPointer) {
            unsafe setReport(context, received)
        }

        /// Counts a connection's report, and ends a connection with one too many.
        func count(_ session: UnsafeMutableRawPointer, hasData: Bool) {
            let before = unsafe UInt(bitPattern: get(session, index))
            guard before <= maximum else { return }
            let now = TLSGuard.count(before, hasData: hasData)
            if now != before { _ = unsafe set(session, index, UnsafeMutableRawPointer(bitPattern: now)) }
            let hasEnded = now > maximum
            guard hasEnded || hasData && seesNoCut, let source = unsafe source(session) else { return }
            if hasEnded { return unsafe setReads(source, refused) }
            // Before that, the connection's end is the handshake's end, which libcurl reports.
            if unsafe isFinished(session) == 1 { unsafe setReads(source, cutOff) }
        }

        /// Fails a read of a connection that the guard has ended.
        func refuse(_ source: UnsafeMutableRawPointer) {
            // BIO_FLAGS_RWS and BIO_FLAGS_SHOULD_RETRY, from the previous read.
            unsafe clearFlags(source, 0xF)
            report(.flood)
        }

        /// Adds an error to OpenSSL's queue, from which libcurl reads it.
        func report(_ reason: Reason) {
            if let put = unsafe put { return put(library, 0, reason.rawValue, nil, 0) }
            new?()
            unsafe ccurl_set_error(UnsafeMutableRawPointer(bitPattern: setError), library, reason.rawValue)
        }
    }
}
