import CCurl
import CLibrary
import FoundationEssentials
import HTTPTypes
import NetworkCore

/// Owns one `CURL *` and everything that must live as long: header lines, the error text, and where the callbacks
/// report to.
///
/// A handle carries one transfer, or several of equal options one after the other (`CarriedRequest`). It is never
/// reset: curl_easy_reset clears the options but not what a transfer leaves behind in the handle: credentials of a
/// failed upload, a list of addresses, lookups under way, a pointer to the last header line.
///
/// @unchecked: one thread at a time uses a handle. The caller's thread or the loop's configures it, the mailbox hands
/// it to the loop, and the loop closes it.
@safe final class EasyHandle: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer
    private var isClosed = false
    private var lists: [(option: CURLoption, memory: UnsafeMutableRawPointer)] = unsafe []
    private let errorText: UnsafeMutablePointer<CChar>
    /// The body that libcurl reads; `nil` without a body, and for one that libcurl has copied.
    private(set) var reader: (any EasyBody)?
    private var wireLog: WireLog?
    /// The number of bytes of heads and trailers from the server that the wire log may still show.
    private var loggedRoom = WireLog.maximumReceivedBytes
    /// The receiver of the callbacks' events. It retains this handle, not the other way around.
    unowned(unsafe) var events: any EasyEvents
    /// The URL's parts, in libcurl's form (CURLU).
    private var parts: OpaquePointer?
    /// How long addresses in the cache may be used, in seconds (CURLOPT_DNS_CACHE_TIMEOUT).
    private var nameCacheSeconds = 60
    /// Whether libcurl writes its log.
    private var isLogging = false
    /// Whether an option was set during a transfer, so that the handle carries no other one.
    var isMarked = false
    /// The loop's index for the handle's transfer; -1 outside a multi handle.
    var slot = -1
    /// The thread of the multi handle that has the handle, or had it; the checks of unoptimized builds compare it.
    var thread = ThreadIdentity.none
    /// Whether libcurl has run the handle for its present transfer: before, its times are those of the last one.
    var hasRun = true
    /// libcurl's pretransfer time of the previous connection, while another one is being made.
    private var connectedBefore: Int?
    /// The size of the receive buffer, in bytes.
    private(set) var receiveBuffer = LibcurlSupport.defaultBuffer
    /// The size of the upload buffer, in bytes.
    private var uploadBuffer = LibcurlSupport.defaultUploadBuffer

    /// Creates a handle with libcurl's defaults.
    /// - Parameter events: The receiver of the callbacks' events, which must retain the handle until ``close()``.
    /// - Throws: ``NetworkError/Code/unclassified`` when memory is short or libcurl could not be initialized.
    init(events: any EasyEvents) throws {
        // libcurl would otherwise initialize itself here, in its own way.
        guard Libcurl.found.initialisation == 0, let pointer = unsafe curl_easy_init() else {
            throw NetworkError(.unclassified, "libcurl could not make a handle (curl_easy_init)", phase: .preparing)
        }
        unsafe self.pointer = pointer
        unsafe self.events = events
        unsafe errorText = .allocate(capacity: Int(ccurl_error_size))
        unsafe errorText.initialize(repeating: 0, count: Int(ccurl_error_size))
        _ = unsafe ccurl_easy_setopt_pointer(pointer, CURLOPT_ERRORBUFFER, errorText)
    }

    deinit { close() }

    /// Closes the handle, which must have left its multi handle. A handle that was in one is closed on the loop's
    /// thread: a lookup under way (DNS over HTTPS) has handles of its own in the multi handle, which leave it here.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        assert(thread == ThreadIdentity.none || thread == ThreadIdentity.current, "closed outside the loop's thread")
        unsafe curl_easy_cleanup(pointer)
        // After the handle, which may read them until then.
        unsafe lists.forEach { unsafe $0.memory.deallocate() }
        unsafe lists = []
        if let parts = unsafe parts { unsafe curl_url_cleanup(parts) }
        unsafe errorText.deallocate()
    }

    /// Releases the body that libcurl has read: the handle waits for another request.
    func leaveBody() { reader = nil }

    /// Prepares the handle for the transfer after the last one, which has ended plainly.
    func prepareForNext(_ events: any EasyEvents) throws {
        unsafe self.events = events
        unsafe errorText[0] = 0
        connectedBefore = nil
        hasRun = false
        slot = -1
        guard isLogging else { return }
        isLogging = false
        try set(.verbose, 0)
    }

    /// Sets the URL in parts and as text (CURLOPT_CURLU, CURLOPT_URL): from the text alone libcurl would make the
    /// parts, and from the parts alone the text, which newer versions do in any case.
    /// - Parameter isSameOrigin: Whether the last URL of this handle differs in path and query alone.
    func set(_ url: RequestURL, isSameOrigin: Bool) throws {
        // Of others, curl_url_set makes something else than the parser.
        let isPlain = !url.isIPv6Literal && url.query?.isEmpty != true && !url.absoluteString.utf8.contains(0x25)
        guard isPlain, setParts(of: url, isSameOrigin: isSameOrigin) else {
            return try set(urlText: url.absoluteString)
        }
        // Before the text, which this clears in newer versions.
        try unsafe check(
            ccurl_easy_setopt_pointer(pointer, CURLOPT_CURLU, UnsafeMutableRawPointer(parts)), "CURLOPT_CURLU")
        if !Libcurl.found.writesURLFromParts { try set(.url, url.absoluteString) }
    }

    private func setParts(of url: RequestURL, isSameOrigin: Bool) -> Bool {
        let hasParts = unsafe parts != nil
        if !isSameOrigin || !hasParts {
            if let old = unsafe parts { unsafe curl_url_cleanup(old) }
            unsafe parts = curl_url()
            guard setPart(CURLUPART_SCHEME, url.scheme), setPart(CURLUPART_HOST, url.host),
                url.port.map({ setPart(CURLUPART_PORT, String($0)) }) ?? true
            else { return false }
        }
        return setPart(CURLUPART_PATH, url.path) && setPart(CURLUPART_QUERY, url.query)
    }

    /// Sets the URL as text alone.
    func set(urlText text: String) throws {
        try leaveParts()
        try set(.url, text)
    }

    /// Takes the parts of the last URL away.
    private func leaveParts() throws {
        guard let old = unsafe parts else { return }
        try unsafe check(ccurl_easy_setopt_pointer(pointer, CURLOPT_CURLU, nil), "CURLOPT_CURLU")
        unsafe curl_url_cleanup(old)
        unsafe parts = nil
    }

    private func setPart(_ part: CURLUPart, _ text: String?) -> Bool {
        guard let text else { return unsafe curl_url_set(parts, part, nil, 0) == CURLUE_OK }
        return unsafe text.withCString { unsafe curl_url_set(parts, part, $0, 0) == CURLUE_OK }
    }

    /// Requests a size of the receive buffer, in bytes (CURLOPT_BUFFERSIZE); libcurl may keep its own.
    func wishReceiveBuffer(_ bytes: Int) {
        guard receiveBuffer != bytes else { return }
        let code = unsafe ccurl_easy_setopt_long(pointer, CURLOPT_BUFFERSIZE, bytes)
        if code == CURLE_OK { receiveBuffer = bytes }
    }

    /// Requests a size of the upload buffer, in bytes (CURLOPT_UPLOAD_BUFFERSIZE); libcurl may keep its own.
    func wishUploadBuffer(_ bytes: Int) {
        guard uploadBuffer != bytes else { return }
        let code = unsafe ccurl_easy_setopt_long(pointer, CURLOPT_UPLOAD_BUFFERSIZE, bytes)
        if code == CURLE_OK { uploadBuffer = bytes }
    }

    /// Keeps the current connection from carrying other requests after this one (CURLOPT_FORBID_REUSE).
    /// - Returns: Whether libcurl accepted the option.
    func endsItsConnection() -> Bool {
        isMarked = true
        return unsafe ccurl_easy_setopt_long(pointer, CURLOPT_FORBID_REUSE, 1) == CURLE_OK
    }

    /// Sets for how long addresses in the cache may be used, in seconds; -1 for any time.
    func useNames(for seconds: Int) {
        guard seconds != nameCacheSeconds else { return }
        let code = unsafe ccurl_easy_setopt_long(pointer, CURLOPT_DNS_CACHE_TIMEOUT, seconds)
        if code == CURLE_OK { nameCacheSeconds = seconds }
    }

    /// The time at which the connection became usable, in microseconds since the start; `nil` before.
    var connectedAfter: Int? {
        guard hasRun, let time = time(CURLINFO_PRETRANSFER_TIME_T), time != connectedBefore else { return nil }
        return time
    }

    /// Records that another connection is being made.
    /// - Returns: Whether there was one before.
    func connectsAnew() -> Bool {
        guard let connectedAfter else { return false }
        connectedBefore = connectedAfter
        return true
    }

    /// Has libcurl write its log, of which ``EasyEvents/logged(_:)`` gets the lines (CURLOPT_VERBOSE): some of what it
    /// does is reported in no other way.
    func watchLog() throws {
        guard !isLogging else { return }
        isLogging = true
        try unsafe check(ccurl_easy_setopt_debug_callback(pointer, Self.debug), "CURLOPT_DEBUGFUNCTION")
        try unsafe check(ccurl_easy_setopt_pointer(pointer, CURLOPT_DEBUGDATA, context), "CURLOPT_DEBUGDATA")
        try set(.verbose, 1)
    }

    /// The pointer to the handle that libcurl's callbacks receive.
    var context: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    /// libcurl's error text, if there is one.
    var failureText: String? { unsafe errorText[0] == 0 ? nil : String(cString: errorText) }

    // MARK: Options, one function per parameter type

    func set(_ option: LongOption, _ value: Int) throws {
        try unsafe check(ccurl_easy_setopt_long(pointer, option.number, value), option.name)
    }

    func set(_ option: OffsetOption, _ value: Int) throws {
        try unsafe check(ccurl_easy_setopt_offset(pointer, option.number, curl_off_t(value)), option.name)
    }

    /// libcurl copies the text; `nil` resets the option.
    func set(_ option: StringOption, _ value: String?) throws {
        try check(set(option.number, value), option.name)
    }

    /// Uses ``String/withCString(_:)``, because Swift copies a string argument into an array first.
    private func set(_ option: CURLoption, _ value: String?) -> CURLcode {
        guard let value else { return unsafe ccurl_easy_setopt_string(pointer, option, nil) }
        return unsafe value.withCString { unsafe ccurl_easy_setopt_string(pointer, option, $0) }
    }

    /// Sets lines, which live until ``close()``.
    func set(_ option: ListOption, _ lines: TextList) throws {
        guard let memory = unsafe lines.linked() else {
            return try unsafe check(ccurl_easy_setopt_list(pointer, option.number, nil), option.name)
        }
        let first = unsafe memory.assumingMemoryBound(to: curl_slist.self)
        let code = unsafe ccurl_easy_setopt_list(pointer, option.number, first)
        // libcurl has let the last list of this option go.
        if let index = unsafe lists.firstIndex(where: { unsafe $0.option == option.number }) {
            unsafe lists[index].memory.deallocate()
            unsafe lists[index].memory = memory
        } else {
            unsafe lists.append((option.number, memory))
        }
        try check(code, option.name)
    }

    /// libcurl copies the bytes.
    func set(_ option: BlobOption, _ bytes: Data) throws {
        let code = unsafe bytes.withUnsafeBytes {
            unsafe ccurl_easy_setopt_blob(pointer, option.number, $0.baseAddress, $0.count)
        }
        try check(code, option.name)
    }

    /// Sets a small body, which libcurl copies.
    func setCopiedBody(_ bytes: Data) throws {
        try set(.postFieldSize, bytes.count)
        try unsafe bytes.withUnsafeBytes { buffer in
            let start =
                unsafe UnsafeMutableRawPointer(mutating: buffer.baseAddress) ?? UnsafeMutableRawPointer(errorText)
            try unsafe check(
                ccurl_easy_setopt_pointer(pointer, CURLOPT_COPYPOSTFIELDS, start),
                "CURLOPT_COPYPOSTFIELDS"
            )
        }
    }

    /// Sets a body that libcurl fetches chunk by chunk; a count of -1 is an unknown length.
    func setReadBody(_ reader: any EasyBody, count: Int) throws {
        self.reader = reader
        try set(.postFieldSize, count)
        try unsafe check(
            ccurl_easy_setopt_data_callback(pointer, CURLOPT_READFUNCTION, Self.read), "CURLOPT_READFUNCTION")
        try unsafe check(ccurl_easy_setopt_pointer(pointer, CURLOPT_READDATA, context), "CURLOPT_READDATA")
        try unsafe check(ccurl_easy_setopt_seek_callback(pointer, Self.seek), "CURLOPT_SEEKFUNCTION")
        try unsafe check(ccurl_easy_setopt_pointer(pointer, CURLOPT_SEEKDATA, context), "CURLOPT_SEEKDATA")
        guard reader.trailerLines != nil else { return }
        try unsafe check(ccurl_easy_setopt_trailer_callback(pointer, Self.trailers), "CURLOPT_TRAILERFUNCTION")
        try unsafe check(ccurl_easy_setopt_pointer(pointer, CURLOPT_TRAILERDATA, context), "CURLOPT_TRAILERDATA")
    }

    /// Reports what goes over the wire to the wire log. The log lives until ``close()``.
    func setWireLog(_ log: WireLog) throws {
        try watchLog()
        wireLog = log
    }

    private static let debug: ccurl_debug_callback = { _, type, bytes, count, context in
        guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
        let line = unsafe BorrowedBytes(bytes, count: count)
        return unsafe Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { easy in
            if type == CURLINFO_TEXT { unsafe easy.events.logged(line) }
            if let log = easy.wireLog { easy.write(line, of: type, to: log) }
            return 0
        }
    }

    private func write(_ bytes: BorrowedBytes, of type: curl_infotype, to log: WireLog) {
        switch type {
        case CURLINFO_TEXT: log.write("*", bytes.text)
        case CURLINFO_HEADER_OUT: log.write(">", bytes.text)
        case CURLINFO_HEADER_IN where loggedRoom > 0:
            log.write("<", bytes.text)
            loggedRoom -= bytes.count
            if loggedRoom <= 0 { log.write("*", "the rest of the response's head is not logged") }
        case CURLINFO_DATA_OUT: log.writeBody(">", bytes: bytes.count)
        case CURLINFO_DATA_IN: log.writeBody("<", bytes: bytes.count)
        default: break
        }
    }

    // MARK: Queries

    /// Returns a time of `CURLINFO_*_TIME_T` in microseconds; `nil` if it has not happened.
    func time(_ info: CURLINFO) -> Int? {
        let value = offset(info)
        return value > 0 ? value : nil
    }

    /// Returns a value of type `curl_off_t`; 0 when libcurl has none.
    func offset(_ info: CURLINFO) -> Int {
        var value: curl_off_t = 0
        return unsafe ccurl_easy_getinfo_offset(pointer, info, &value) == CURLE_OK ? Int(value) : 0
    }

    /// Returns a value of type `long`; 0 when libcurl has none.
    func long(_ info: CURLINFO) -> Int {
        var value = 0
        return unsafe ccurl_easy_getinfo_long(pointer, info, &value) == CURLE_OK ? value : 0
    }

    /// Returns a text; `nil` when libcurl has none.
    func string(_ info: CURLINFO) -> String? {
        var value: UnsafeMutablePointer<CChar>?
        guard unsafe ccurl_easy_getinfo_string(pointer, info, &value) == CURLE_OK, let value = unsafe value,
            unsafe value[0] != 0
        else { return nil }
        return unsafe String(cString: value)
    }

    func check(_ code: CURLcode, _ name: StaticString) throws {
        guard code != CURLE_OK else { return }
        let isMissing = code == CURLE_UNKNOWN_OPTION || code == CURLE_NOT_BUILT_IN
        throw NetworkError(
            isMissing ? .unsupported : .invalidOption,
            "\(name) is \(isMissing ? "not supported" : "refused") by libcurl \(Libcurl.found.version)",
            phase: .preparing,
            underlying: .init(domain: "libcurl", code: Int(code.rawValue), message: CurlCode(code).words ?? "unknown")
        )
    }
}
