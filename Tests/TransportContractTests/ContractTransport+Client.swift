import Foundation
import NetworkLayer

extension ContractTransport {
    /// A client over the transport. Each call has a timeout of 30 seconds, so that a fault is a failure and no hang.
    var client: NetworkClient {
        var client = NetworkClient(transport: transport)
        client.options.totalTimeout = .seconds(30)
        return client
    }

    /// Returns a request for the client, with a timeout of 30 seconds.
    func request(
        _ method: HTTPRequest.Method = .get,
        _ url: String,
        fields: [(String, String)] = [],
        body: TransportRequest.Body? = nil
    ) throws -> TransportRequest {
        var request = TransportRequest(method: method, url: try RequestURL(url), body: body)
        request.options.totalTimeout = .seconds(30)
        for (name, value) in fields { request.headerFields.append(try HTTPField(checking: name, value: value)) }
        return request
    }
}
