public import FoundationEssentials
import NetworkLayer

/// The short form of a failure, as reported by `fetch(with:decode:completion:)` and `build()`. Its cases are the
/// tutorial's, and stay. ``NetworkCore/NetworkError``, which every other call of this library throws, has more detail.
public enum APIError: Error, Sendable, Hashable, CaseIterable {
    /// There was no response: the request was refused before it was sent, the connection failed, or a timeout passed.
    case requestFailed
    /// The response's body could not be decoded.
    case jsonConversionFailure
    /// The response had no body. A body of `null` is ``jsonConversionFailure``, unless the type is optional.
    case invalidData
    /// The status was not 2xx.
    case responseUnsuccessful
    /// The decoded value was not of the wanted type: the `decode` closure returned `nil`.
    case jsonParsingFailure
    /// The request could not be built: its URL, a header field or a parameter is invalid.
    case requestBuilderFailed

    /// A short text for a user interface.
    public var localizedDescription: String {
        switch self {
        case .requestFailed: "Request Failed"
        case .invalidData: "Invalid Data"
        case .responseUnsuccessful: "Response Unsuccessful"
        case .jsonParsingFailure: "JSON Parsing Failure"
        case .jsonConversionFailure: "JSON Conversion Failure"
        case .requestBuilderFailed: "Request Builder Failed"
        }
    }

    /// Creates the short form of any error.
    public init(_ error: any Error) {
        switch NetworkError.code(of: error) {
        case .unacceptableStatus?: self = .responseUnsuccessful
        case .decodingFailed?: self = .jsonConversionFailure
        case .noData?: self = .invalidData
        default: self = error as? APIError ?? .requestFailed
        }
    }
}

extension APIError: LocalizedError {
    /// The same as ``localizedDescription``.
    public var errorDescription: String? { localizedDescription }
}
