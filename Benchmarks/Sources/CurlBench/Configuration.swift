public import Bench
public import CurlTransport
public import NetworkCore

/// The configuration of all of this library's contenders over libcurl.
extension CurlNetworkDispatcher.Configuration {
    /// Returns a configuration with enough connections for all requests in flight.
    public static func benchmark(_ arguments: Arguments) -> CurlNetworkDispatcher.Configuration {
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.maximumConnectionsPerOrigin = max(128, arguments.connections)
        configuration.maximumConnections = max(configuration.maximumConnections, arguments.connections)
        if arguments.runsInBatches { configuration.scheduling = .batch }
        return configuration
    }
}

extension TransportOptions {
    /// Returns the options for the protocol, the authority and bodies of any size.
    /// - Throws: ``CanNot`` for HTTP/2 if the libcurl in use does not support it reliably.
    public static func benchmark(_ arguments: Arguments) throws -> TransportOptions {
        var options = TransportOptions()
        options.maximumBodyBytes = 1 << 30
        if arguments.usesHTTP2 {
            guard CurlNetworkDispatcher.shared.capabilities.supports(.http2) else { throw CanNot() }
            options.httpVersion = .http2
        }
        if let authority = arguments.authority { options.tls.authorities = .file(authority) }
        return options
    }
}

extension NetworkClient {
    /// Returns the pipeline over libcurl.
    public static func benchmark(_ arguments: Arguments) throws -> NetworkClient {
        NetworkClient(
            transport: CurlNetworkDispatcher(configuration: .benchmark(arguments)),
            options: try .benchmark(arguments)
        )
    }
}
