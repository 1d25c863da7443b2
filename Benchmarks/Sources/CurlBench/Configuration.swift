public import Bench
public import CurlTransport
public import NetworkCore

/// How every contender of this library over libcurl is set up.
extension CurlNetworkDispatcher.Configuration {
    /// Room for all that is in flight.
    public static func benchmark(_ arguments: Arguments) -> CurlNetworkDispatcher.Configuration {
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.maximumConnectionsPerHost = max(128, arguments.connections)
        configuration.maximumConnections = max(configuration.maximumConnections, arguments.connections)
        if arguments.runsInBatches { configuration.scheduling = .batch }
        return configuration
    }
}

extension TransportOptions {
    /// The protocol and the authority that were asked for, and bodies of any size that occurs.
    /// - Throws: ``CanNot`` for HTTP/2 where the libcurl found is not trusted with it.
    public static func benchmark(_ arguments: Arguments) throws -> TransportOptions {
        var options = TransportOptions()
        options.maximumBodyBytes = 1 << 30
        if arguments.usesHTTP2 {
            guard CurlNetworkDispatcher.instance.capabilities.supports(.http2) else { throw CanNot() }
            options.httpVersion = .http2
        }
        if let authority = arguments.authority { options.tls.authorities = .file(authority) }
        return options
    }
}

extension NetworkClient {
    /// The pipeline over libcurl.
    public static func benchmark(_ arguments: Arguments) throws -> NetworkClient {
        NetworkClient(
            transport: CurlNetworkDispatcher(configuration: .benchmark(arguments)),
            options: try .benchmark(arguments)
        )
    }
}
