import JSONText
import NetworkLayer

extension TransportOptions.Proxy {
    /// Reads the `proxy` option of a line. An empty URL means no proxy, as in curl.
    /// - Throws: ``LineProblem`` that names the key.
    init(_ options: ObjectReader) throws {
        var reader = options
        guard let url = try reader.string("url") else { throw LineProblem("'options.proxy.url' is missing") }
        var proxy = Server(
            url,
            user: try reader.string("user"),
            password: try reader.string("password").map { TransportOptions.Secret($0) }
        )
        if let name = try reader.string("scheme") { proxy.authenticationScheme = try Self.scheme(name) }
        proxy.noProxy = try Self.hosts(reader.value("noProxy"))
        proxy.tunnel = try reader.bool("tunnel") ?? false
        for (name, value) in try reader.pairs("headers") {
            try proxy.headerFields.append(checking: name, value: value)
        }
        proxy.authorities = try Self.authorities(&reader)
        try reader.finish()
        self = url.isEmpty ? .none : .explicit(proxy)
    }

    private static func scheme(_ name: String) throws -> Server.AuthenticationScheme {
        switch name {
        case "basic": return .basic
        case "digest": return .digest
        case "any": return .anySafe
        default:
            throw LineProblem("'options.proxy.scheme' is '\(name.shown)'; it must be 'basic', 'digest' or 'any'")
        }
    }

    private static func hosts(_ value: JSONValue?) throws -> [String] {
        switch value {
        case nil: return []
        case .string(let list): return list.split { ", ".contains($0) }.map(String.init)
        case .array(let hosts):
            return try hosts.map { host in
                guard case .string(let host) = host else {
                    throw LineProblem("'options.proxy.noProxy' must hold strings")
                }
                return host
            }
        case .some(let other): throw LineProblem("'options.proxy.noProxy' is \(other.kind)")
        }
    }

    private static func authorities(_ reader: inout ObjectReader) throws -> TransportOptions.TLS.Authorities {
        switch (try reader.string("caFile"), try reader.string("caDirectory")) {
        case (nil, nil): return .system
        case (let file?, nil): return .file(file)
        case (nil, let directory?): return .directory(directory)
        default: throw LineProblem("'options.proxy.caFile' and 'options.proxy.caDirectory' exclude one another")
        }
    }
}
