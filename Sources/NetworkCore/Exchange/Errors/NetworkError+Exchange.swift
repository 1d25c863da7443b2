import HTTPTypes

extension NetworkError {
    /// The error with the exchange it belongs to; an exchange that is named already stays.
    package func during(_ request: TransportRequest, transport: String, elapsed: Duration, repeats: Int = 0)
        -> NetworkError
    {
        guard exchange == nil else { return self }
        var error = self
        error.exchange = Exchange(
            method: request.method.rawValue,
            url: request.url.description,
            transport: transport,
            elapsed: elapsed
        )
        error.exchange?.repeats = repeats
        error.exchange?.attempts += repeats
        return error
    }

    /// The error for an exchange that is not over in time.
    package static func totalTimeout(of request: TransportRequest, phase: Phase) -> NetworkError {
        let time = request.options.totalTimeout ?? .zero
        return NetworkError(
            .totalTimeout, "the exchange was not done within \(time) (totalTimeout)", phase: phase)
    }
}
