import Logging

/// What the log lines of this library have in their metadata, under the names that OpenTelemetry gives it.
extension Logger.Metadata {
    /// The metadata of a request that has ended: method, URL and duration in seconds; the transport; the status or the
    /// error's code.
    init(of request: TransportRequest, in time: Duration, _ outcome: Result<TransportResponse, any Error>) {
        self = [
            "http.request.method": "\(Redaction.visible(request.method.rawValue))", "url.full": "\(request.url)",
            "http.client.request.duration": "\(time.secondsText)",
        ]
        switch outcome {
        case .success(let response):
            self["http.response.status_code"] = "\(response.status.code)"
            self["transport"] = response.carrier.map { "\($0)" }
        case .failure(let error):
            self["transport"] = (error as? NetworkError)?.exchange.map { "\($0.transport)" }
            self["error.type"] = "\(NetworkError.code(of: error)?.rawValue ?? "\(type(of: error))")"
            if let status = (error as? NetworkError)?.response?.status.code {
                self["http.response.status_code"] = "\(status)"
            }
        }
    }
}

extension Duration {
    /// Seconds with six decimals, `0.012300`.
    fileprivate var secondsText: String {
        let microseconds = Int64(min(max(0, inSeconds * 1e6), 1e15).rounded())
        let fraction = String(microseconds % 1_000_000)
        return "\(microseconds / 1_000_000).\(String(repeating: "0", count: 6 - fraction.count))\(fraction)"
    }
}
