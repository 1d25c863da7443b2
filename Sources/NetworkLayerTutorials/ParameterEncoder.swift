import Foundation
public import FoundationNetworking
import NetworkLayer

/// A type that encodes parameters into a `URLRequest`.
///
/// ```swift
/// var request = URLRequest(url: url)
/// try URLParameterEncoder.encode(urlRequest: &request, with: ["page": 1])
/// ```
public protocol ParameterEncoder {
    /// Encodes parameters into a request. If it throws, the request is unchanged.
    static func encode(urlRequest: inout URLRequest, with parameters: Parameters) throws
}

/// An encoder that appends parameters to the URL's query, sorted by name.
public struct URLParameterEncoder: ParameterEncoder {
    /// Encodes parameters into the query, and sets `Content-Type` to that of a form if the request has none.
    /// - Throws: ``NetworkCore/NetworkError/missingURL``, or ``NetworkCore/NetworkError/encodingFailed`` with the name
    ///   of the parameter in the message.
    public static func encode(urlRequest: inout URLRequest, with parameters: Parameters) throws {
        var data = urlRequest.data
        data.content = nil
        data.query = parameters.mapValues(ParameterValue.init)
        let encoded = try data.urlRequest()
        urlRequest.url = encoded.url
        // The user and password that stood in the URL.
        urlRequest.setValue(
            encoded.value(forHTTPHeaderField: "Authorization"),
            forHTTPHeaderField: "Authorization"
        )
        if urlRequest.value(forHTTPHeaderField: "Content-Type") == nil {
            urlRequest.setValue(
                "application/x-www-form-urlencoded; charset=utf-8",
                forHTTPHeaderField: "Content-Type"
            )
        }
    }
}

/// An encoder that replaces the body with parameters, as a JSON object.
public struct JSONParameterEncoder: ParameterEncoder {
    /// Encodes parameters into the body, and sets `Content-Type` to JSON's if the request has none.
    /// - Throws: ``NetworkCore/NetworkError/missingURL``, or ``NetworkCore/NetworkError/encodingFailed`` with the name
    ///   of the parameter in the message.
    public static func encode(urlRequest: inout URLRequest, with parameters: Parameters) throws {
        var data = urlRequest.data
        data.content = .json(parameters: parameters.mapValues(ParameterValue.init))
        let encoded = try data.urlRequest()
        urlRequest.httpBody = encoded.httpBody
        if urlRequest.value(forHTTPHeaderField: "Content-Type") == nil {
            urlRequest.setValue(
                encoded.value(forHTTPHeaderField: "Content-Type"),
                forHTTPHeaderField: "Content-Type"
            )
        }
    }
}
