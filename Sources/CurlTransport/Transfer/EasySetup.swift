import HTTPTypes
import NetworkCore

/// What an easy handle is set up for. A service mostly sends the same kind of request again: then nothing has to be set but
/// what differs, instead of all options after a reset.
struct EasySetup {
    var url: RequestURL
    let headerFields: HTTPFields
    let options: TransportOptions

    /// `nil` for a request whose setup is not to be used again: with a body, with options that leave a state behind in the
    /// handle (credentials, addresses), or whatever else is not asked for often.
    init?(_ request: TransportRequest) {
        guard request.method == .get, request.body == nil, request.options.wireLog == nil, request.options.isRepeatable
        else { return nil }
        url = request.url
        headerFields = request.headerFields
        options = request.options
    }

    /// Whether it serves the request, but for its URL.
    func fits(_ request: TransportRequest) -> Bool {
        // The scheme decides on the protocol.
        request.method == .get && request.body == nil && options == request.options
            && headerFields == request.headerFields && url.scheme == request.url.scheme
    }
}

extension Transfer {
    /// Prepares a handle that has left its multi handle for this transfer.
    /// - Parameter more: Options beside the request's own, if it is not of a kind that is repeated.
    func setUp(_ easy: EasyHandle, trustsAnyServer: Bool, alsoWith more: [any EasyOption] = []) throws {
        easy.report(to: self)
        if let setup = easy.setup, setup.fits(request) {
            easy.reuse()
            guard setup.url != request.url else { return }
            try TargetOption(url: request.url).apply(to: easy)
            easy.setup?.url = request.url
            return
        }
        easy.reset()
        easy.report(to: self)
        for option in try request.easyOptions(for: Libcurl.found) + more { try option.apply(to: easy) }
        if trustsAnyServer { try AnyServerOption().apply(to: easy) }
        try attachCallbacks(to: easy)
        easy.setup = EasySetup(request)
    }
}
