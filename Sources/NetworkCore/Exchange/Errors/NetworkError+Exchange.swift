import HTTPTypes

extension NetworkError {
    /// Returns the error with the exchange in which it occurred. An error that already names an exchange stays the
    /// same.
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

    /// Returns the error for an exchange that did not end in time.
    package static func totalTimeout(of request: TransportRequest, phase: Phase) -> NetworkError {
        let time = request.options.totalTimeout ?? .zero
        return NetworkError(
            .totalTimeout, "the exchange was not done within \(time) (totalTimeout)", phase: phase)
    }
}
