import HTTPTypes
import NetworkCore

/// What an easy handle is set up for. A service mostly sends the same kind of request again: then nothing has to be set but
/// what differs, instead of all options after a reset.
final class EasySetup {
    let url: RequestURL
    /// A header field as it goes out.
    private struct Line {
        let name: String
        /// In ASCII alone.
        let value: String
    }

    /// Taken out of their fields: each look at a field copies it.
    private let lines: [Line]
    let options: TransportOptions
    let limits: TransferLimits

    private let method: HTTPMethod
    private let body: BodyPassage

    /// `nil` for a request whose setup is not to be used again: with a streamed body, with options that leave a state behind in
    /// the handle (credentials, addresses), or whatever else is not asked for often.
    init?(_ request: TransportRequest) {
        body = BodyPassage(request.body)
        guard body != .streamed, request.options.wireLog == nil, request.options.isRepeatable else { return nil }
        // Whether a refused expectation is followed by another answer is told by the bytes that went out. On a used handle of
        // libcurl 8.23 it was told wrong, and the 417 was taken for the answer.
        guard !request.headerFields.contains(.expect) else { return nil }
        method = request.method
        guard request.headerFields.allSatisfy({ $0.value.utf8.allSatisfy { $0 < 0x80 } }) else { return nil }
        url = request.url
        lines = request.headerFields.map { Line(name: $0.name.rawName, value: $0.value) }
        options = request.options
        limits = TransferLimits(options)
    }

    /// The same for another URL.
    init(_ other: EasySetup, url: RequestURL) {
        self.url = url
        method = other.method
        body = other.body
        lines = other.lines
        options = other.options
        limits = other.limits
    }

    /// Whether it serves the request, but for its URL and its body's bytes. Such a request needs no check of its own either.
    func fits(_ request: TransportRequest) -> Bool {
        let others = request.options
        // The scheme decides on the protocol.
        return method == request.method && body == BodyPassage(request.body) && options == others
            && hasSameLines(as: request.headerFields) && url.scheme == request.url.scheme
            && (options.hasSameRareOptions(as: others) || options.tls.texts == others.tls.texts)
    }

    /// Whether the same lines go out, in the same order: equal fields may be written in other cases, or stand in another
    /// order.
    private func hasSameLines(as others: HTTPFields) -> Bool {
        guard lines.count == others.count else { return false }
        var index = others.startIndex
        for line in lines {
            let field = others[index]
            index += 1
            // Equal text may have other bytes, but not as many as ASCII text that it equals.
            guard field.value == line.value, field.value.utf8.count == line.value.utf8.count,
                field.name.rawName == line.name
            else { return false }
        }
        return true
    }
}

extension TLSOptions {
    /// Its texts, byte by byte: two that Swift calls equal may name different files.
    fileprivate var texts: [[UInt8]] {
        var texts = pinnedPublicKeys + [ciphers ?? "", cipherSuites ?? "", clientCertificate?.password?.value ?? ""]
        switch authorities {
        case .file(let path), .directory(let path): texts.append(path)
        case .system, .bytes: break
        }
        for case .file(let path)? in [clientCertificate?.certificate, clientCertificate?.key] { texts.append(path) }
        return texts.map { Array($0.utf8) }
    }
}

extension Transfer {
    /// A transfer with a handle whose setup ``EasySetup/fits(_:)`` the request.
    static func repeated(
        _ request: TransportRequest, setup: EasySetup, origin: Origin, easy: EasyHandle, clock: LoopClock
    ) throws -> Transfer {
        let transfer = Transfer(request, origin: origin, easy: easy, clock: clock, limits: setup.limits)
        easy.reuse()
        easy.report(to: transfer)
        if setup.url != request.url {
            try TargetOption(url: request.url).apply(to: easy)
            easy.setup = EasySetup(setup, url: request.url)
        }
        if let body = request.body { try body.attach(to: easy) }
        return transfer
    }

    /// A transfer with a handle that is set up for it from the start.
    /// - Parameter more: Options beside the request's own; such a handle serves no other as it is.
    static func make(
        _ request: TransportRequest, origin: Origin, easy: EasyHandle, clock: LoopClock, trustsAnyServer: Bool,
        alsoWith more: [any EasyOption] = []
    ) throws -> Transfer {
        easy.reset()
        let transfer = Transfer(
            request, origin: origin, easy: easy, clock: clock, limits: TransferLimits(request.options))
        easy.report(to: transfer)
        for option in try request.easyOptions(for: Libcurl.found) + more { try option.apply(to: easy) }
        if trustsAnyServer { try AnyServerOption().apply(to: easy) }
        try transfer.attachCallbacks(to: easy)
        easy.setup = more.isEmpty ? EasySetup(request) : nil
        return transfer
    }
}
