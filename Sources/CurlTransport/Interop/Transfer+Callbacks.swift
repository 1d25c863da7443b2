import CCurl
import NetworkCore

/// What libcurl calls while a transfer runs, always on the loop's thread. Each callback asks the transfer's state and
/// does what it says; nothing here removes or frees a handle.
extension Transfer {
    /// Registers the callbacks. The handle must not outlive the transfer inside a multi handle; the loop holds both.
    func attachCallbacks(to easy: EasyHandle) throws {
        let context = Unmanaged.passUnretained(self).toOpaque()
        try easy.check(ccurl_easy_setopt_pointer(easy.pointer, CURLOPT_PRIVATE, context), "CURLOPT_PRIVATE")
        try easy.check(
            ccurl_easy_setopt_data_callback(easy.pointer, CURLOPT_HEADERFUNCTION, Self.header),
            "CURLOPT_HEADERFUNCTION"
        )
        try easy.check(ccurl_easy_setopt_pointer(easy.pointer, CURLOPT_HEADERDATA, context), "CURLOPT_HEADERDATA")
        try easy.check(
            ccurl_easy_setopt_data_callback(easy.pointer, CURLOPT_WRITEFUNCTION, Self.write),
            "CURLOPT_WRITEFUNCTION"
        )
        try easy.check(ccurl_easy_setopt_pointer(easy.pointer, CURLOPT_WRITEDATA, context), "CURLOPT_WRITEDATA")
    }

    /// The transfer of a handle that libcurl names.
    static func of(_ easy: UnsafeMutableRawPointer) -> Transfer? {
        var context: UnsafeMutableRawPointer?
        guard ccurl_easy_getinfo_pointer(easy, &context) == CURLE_OK, let context else { return nil }
        return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    }

    /// CURLOPT_HEADERFUNCTION: one line, its end included. Any other count than the given one ends the transfer.
    private static let header: ccurl_data_callback = { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return transfer.state.receive(headerLine: line, at: transfer.clock.now) ? size * count : 0
    }

    /// CURLOPT_WRITEFUNCTION: at most 16 KiB of decoded body.
    private static let write: ccurl_data_callback = { bytes, size, count, context in
        let length = size * count
        guard length > 0, let bytes, let context else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        if transfer.state.bodyBytes == 0 { transfer.reserveBody() }
        guard transfer.state.receive(bodyBytes: length, at: transfer.clock.now) else { return 0 }
        guard transfer.body.append(UnsafeRawBufferPointer(start: bytes, count: length)) else {
            transfer.state.fail(NetworkError(.bodyTooLarge, "there is no memory for the body", phase: .receiving))
            return 0
        }
        if let progress = transfer.request.options.progress {
            progress.report(transfer.state.bodyBytes, transfer.easy?.announcedBytes)
        }
        return length
    }

    /// Room for the announced length, as far as it is believable: a server's word must not make us allocate more than
    /// 1 MiB ahead of the bytes.
    private func reserveBody() {
        guard let announced = easy?.announcedBytes else { return }
        body.reserve(min(announced, request.options.maximumBodyBytes, 1 << 20))
    }
}
