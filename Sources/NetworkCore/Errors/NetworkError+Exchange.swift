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
}
