import CCurl
import CLibrary
import NetworkCore

/// The callbacks that libcurl calls while it has the handle. Each passes on what it is given, in Swift's types.
extension EasyHandle {
    /// Registers the callbacks.
    /// - Parameter reportsProgress: Whether ``EasyEvents/progresses(moved:)`` is called.
    func attachCallbacks(reportsProgress: Bool) throws {
        try unsafe check(ccurl_easy_setopt_pointer(pointer, CURLOPT_PRIVATE, context), "CURLOPT_PRIVATE")
        try unsafe check(
            ccurl_easy_setopt_data_callback(pointer, CURLOPT_HEADERFUNCTION, Self.header), "CURLOPT_HEADERFUNCTION")
        try unsafe check(ccurl_easy_setopt_pointer(pointer, CURLOPT_HEADERDATA, context), "CURLOPT_HEADERDATA")
        try unsafe check(
            ccurl_easy_setopt_data_callback(pointer, CURLOPT_WRITEFUNCTION, Self.write), "CURLOPT_WRITEFUNCTION")
        try unsafe check(ccurl_easy_setopt_pointer(pointer, CURLOPT_WRITEDATA, context), "CURLOPT_WRITEDATA")
        try unsafe check(
            ccurl_easy_setopt_resolver_start_callback(pointer, Self.resolverStart), "CURLOPT_RESOLVER_START_FUNCTION")
        try unsafe check(
            ccurl_easy_setopt_pointer(pointer, CURLOPT_RESOLVER_START_DATA, context), "CURLOPT_RESOLVER_START_DATA")
        try unsafe check(ccurl_easy_setopt_prereq_callback(pointer, Self.request), "CURLOPT_PREREQFUNCTION")
        try unsafe check(ccurl_easy_setopt_pointer(pointer, CURLOPT_PREREQDATA, context), "CURLOPT_PREREQDATA")
        if reportsProgress {
            try set(.noProgress, 0)
            try unsafe check(ccurl_easy_setopt_progress_callback(pointer, Self.progress), "CURLOPT_XFERINFOFUNCTION")
            try unsafe check(ccurl_easy_setopt_pointer(pointer, CURLOPT_XFERINFODATA, context), "CURLOPT_XFERINFODATA")
        }
    }

    /// Any result other than 0 ends the transfer.
    private static let progress: ccurl_progress_callback = { context, _, received, _, sent in
        unsafe report(context, refusal: 1) { $0.progresses(moved: Int(received) &+ Int(sent)) ? 0 : 1 }
    }

    /// Any result other than 0 ends the lookup.
    private static let resolverStart: ccurl_resolver_start_callback = { _, _, context in
        unsafe report(context, refusal: 1) { $0.lookUpBegins() ? 0 : 1 }
    }

    /// 0 is CURL_PREREQFUNC_OK, and 1 is CURL_PREREQFUNC_ABORT.
    private static let request: ccurl_prereq_callback = { context, remote, _, remotePort, localPort in
        let ends = unsafe ConnectionEnds(localPort: Int(localPort), remote: remote, remotePort: Int(remotePort))
        return unsafe report(context, refusal: 1) { $0.mayGoOut(over: ends) ? 0 : 1 }
    }

    /// Any count other than the given one ends the transfer.
    private static let header: ccurl_data_callback = { bytes, size, count, context in
        let line = unsafe BorrowedBytes(bytes, count: size * count)
        return unsafe report(context, refusal: 0) { $0.headerArrived(line) ? line.count : 0 }
    }

    private static let write: ccurl_data_callback = { bytes, size, count, context in
        let piece = unsafe BorrowedBytes(bytes, count: size * count)
        return unsafe report(context, refusal: 0) { events in
            switch events.bodyArrived(piece) {
            case .taken: piece.count
            case .pause: ccurl_writefunc_pause
            case .stop: 0
            }
        }
    }

    /// 0 is the end.
    static let read: ccurl_data_callback = { buffer, size, count, context in
        var room = unsafe BorrowedRoom(buffer, count: size * count)
        return unsafe report(context, refusal: ccurl_readfunc_abort) { events in
            switch events.bodyWanted(&room) {
            case .filled: room.filled
            case .pause: ccurl_readfunc_pause
            case .stop: ccurl_readfunc_abort
            }
        }
    }

    /// libcurl frees the list. 0 is CURL_TRAILERFUNC_OK, and 1 is CURL_TRAILERFUNC_ABORT.
    static let trailers: ccurl_trailer_callback = { list, context in
        guard let easy = unsafe of(context: context), let lines = easy.reader?.trailerLines else { return 1 }
        for line in lines {
            guard let longer = unsafe line.withCString({ unsafe curl_slist_append(list?.pointee, $0) }) else {
                return 1
            }
            unsafe list?.pointee = longer
        }
        return 0
    }

    /// libcurl seeks to absolute positions, and in streams only to the start.
    static let seek: ccurl_seek_callback = { context, offset, origin in
        guard let context = unsafe context, origin == 0 else { return ccurl_seek_fail }
        let easy = unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
        return easy.reader?.seek(to: Int(offset)) == true ? ccurl_seek_ok : ccurl_seek_fail
    }

    /// Calls `body` with the events of a callback's context. libcurl has the handle only while it lives.
    /// - Parameter refusal: The result without a context, by which libcurl ends the transfer.
    private static func report<Result>(
        _ context: UnsafeMutableRawPointer?, refusal: Result, _ body: (any EasyEvents) -> Result
    ) -> Result {
        guard let context = unsafe context else { return refusal }
        return unsafe Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { easy in
            easy.hasRun = true
            return unsafe body(easy.events)
        }
    }

    /// Calls `body` with the events of the handle that libcurl names, unless libcurl made it for itself.
    static func report(of pointer: UnsafeMutableRawPointer, _ body: (any EasyEvents) -> Void) {
        var context: UnsafeMutableRawPointer?
        guard unsafe ccurl_easy_getinfo_pointer(pointer, &context) == CURLE_OK else { return }
        unsafe report(context, refusal: ()) { body($0) }
    }

    /// Returns the handle of a callback's context.
    static func of(context: UnsafeMutableRawPointer?) -> EasyHandle? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
    }

    /// Returns the handle that libcurl names; `nil` for one that libcurl made for itself.
    static func of(_ pointer: UnsafeMutableRawPointer) -> EasyHandle? {
        var context: UnsafeMutableRawPointer?
        guard unsafe ccurl_easy_getinfo_pointer(pointer, &context) == CURLE_OK else { return nil }
        return unsafe of(context: context)
    }
}
