import CCurl
import CLibrary

/// Watches what a TLS connection reads, where libcurl has no eye on it.
///
/// It ends a connection whose peer sends records without end that carry no data: HelloRequests in place of a response
/// to the ClientHello, session tickets after the handshake.
///
/// OpenSSL takes them in one call, for as long as they come, and the loop's thread with it. It reports each record and
/// message (SSL_CTX_set_msg_callback), and what is reported is counted here. SSL_MODE_AUTO_RETRY stays on, by which
/// OpenSSL goes on after a message: without it libcurl would wait for the socket while the rest of a record waits in
/// OpenSSL. A connection with one too many reads no more (BIO_set_callback_ex): each further read is the error.
///
/// And it makes the end of a connection an error that TLS does not announce (RFC 8446 §6.1), where libcurl takes it for
/// the end of a body without a length (``LibcurlSupport/Quirk/cutBodiesAreWhole``).
///
/// The callback takes the place of libcurl's own, so the wire log says nothing of TLS messages. What it costs a resumed
/// connection is lost in the noise (2026-11-22, at least of six runs, microseconds without and with: 8.14.1 1,333 and
/// 1,449, 8.23 1,239 and 1,297).
enum TLSGuard {
    /// What the error that OpenSSL hands to libcurl says.
    static let words: StaticString = "TLS records without data"

    private static let cutOffWords: StaticString = "the connection ended without TLS's close_notify"

    /// Whether the library that libcurl uses can be asked to.
    static var isBounded: Bool { functions != nil }

    /// CURLOPT_SSL_CTX_FUNCTION, which libcurl calls for each TLS connection, a proxy's too.
    static let prepare: ccurl_tls_callback = { _, context, _ in
        if let context = unsafe context { unsafe functions?.prepare(context) }
        return CURLE_OK
    }

    /// The reports of one connection so far: what carries no data weighs more than the 32 empty records that OpenSSL
    /// takes in a row, so that such records in between buy no more of them.
    static func count(_ count: UInt, hasData: Bool) -> UInt { hasData ? count - min(count, 1) : count + weight }

    /// Five hundred records or messages, 20 ms of session tickets. A handshake has some ten of each, and a chain of
    /// certificates that fills 100 KB, all that OpenSSL takes, in records of 512 bytes, the smallest that a client can
    /// ask for, has 200.
    static let maximum = 500 * weight
    private static let weight: UInt = 128

    private typealias Report =
        @convention(c) (
            Int32, Int32, Int32, UnsafeRawPointer?, Int, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
        ) -> Void

    private static let received: Report = { isSent, _, type, bytes, length, session, _ in
        guard isSent == 0, length > 0, let bytes = unsafe bytes, let session = unsafe session else { return }
        // SSL3_RT_HEADER and SSL3_RT_INNER_CONTENT_TYPE begin with the record's type. What is no record is a message.
        let hasData = unsafe (type == 256 || type == 257) && bytes.load(as: UInt8.self) == 23
        unsafe functions?.count(session, hasData: hasData)
    }

    private typealias Reads =
        @convention(c) (
            UnsafeMutableRawPointer, Int32, UnsafePointer<CChar>?, Int, Int32, Int, Int32, UnsafeMutablePointer<Int>?
        ) -> Int

    /// What a connection that has ended reads: nothing, and each time the error, since libcurl takes none from a read
    /// that finds the socket empty. BIO_CB_READ is 2.
    private static let refused: Reads = { source, operation, _, _, _, _, result, _ in
        guard operation == 2 else { return Int(result) }
        unsafe functions?.refuse(source)
        return -1
    }

    /// Says of a read that finds the connection's end that TLS did not announce it: after close_notify none is made.
    /// BIO_CB_READ and BIO_CB_RETURN.
    private static let cutOff: Reads = { _, operation, _, _, _, _, result, _ in
        if operation == 2 | 0x80, result == 0 { functions?.report(.cutOff) }
        return Int(result)
    }

    /// An error of ours, by OpenSSL's number for its text.
    private enum Reason: Int32 { case flood = 100, cutOff }

    private static let functions: Functions? = OpenSSL.library == nil ? nil : Functions()

    /// The functions for it, and what they were given once.
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
        /// Where a connection keeps its count: in place of a pointer, so that nothing is owned or freed.
        private let index: Int32
        /// The number under which OpenSSL knows our error.
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
            // ERR_STRING_DATA, and one of zeros that ends the list. OpenSSL keeps it: never freed.
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

        /// Counts a report of a connection, and ends the connection with one too many.
        func count(_ session: UnsafeMutableRawPointer, hasData: Bool) {
            let before = unsafe UInt(bitPattern: get(session, index))
            guard before <= maximum else { return }
            let now = TLSGuard.count(before, hasData: hasData)
            if now != before { _ = unsafe set(session, index, UnsafeMutableRawPointer(bitPattern: now)) }
            let hasEnded = now > maximum
            guard hasEnded || hasData && seesNoCut, let source = unsafe source(session) else { return }
            if hasEnded { return unsafe setReads(source, refused) }
            // Before, the end of the connection is that of the handshake, which libcurl tells.
            if unsafe isFinished(session) == 1 { unsafe setReads(source, cutOff) }
        }

        /// Fails a read of a connection that has ended.
        func refuse(_ source: UnsafeMutableRawPointer) {
            // BIO_FLAGS_RWS and BIO_FLAGS_SHOULD_RETRY, of the read before.
            unsafe clearFlags(source, 0xF)
            report(.flood)
        }

        /// Hands OpenSSL an error, which libcurl takes from it.
        func report(_ reason: Reason) {
            if let put = unsafe put { return put(library, 0, reason.rawValue, nil, 0) }
            new?()
            unsafe ccurl_set_error(UnsafeMutableRawPointer(bitPattern: setError), library, reason.rawValue)
        }
    }
}
