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
        timeout(.totalTimeout, of: request.options, phase: phase)
    }

    /// Returns the error for a timeout that is over, with the option's name and value.
    package static func timeout(_ code: Code, of options: TransportOptions, phase: Phase? = nil) -> NetworkError {
        let message =
            switch code {
            case .connectTimeout: "no connection within \(options.connectTimeout ?? .zero) (connectTimeout)"
            case .idleTimeout: "nothing moved for \(options.idleTimeout ?? .zero) (idleTimeout)"
            case .firstByteTimeout:
                "no byte of the response within \(options.firstByteTimeout ?? .zero) (firstByteTimeout)"
            default: "the exchange was not done within \(options.totalTimeout ?? .zero) (totalTimeout)"
            }
        return NetworkError(code, message, phase: phase)
    }
}
