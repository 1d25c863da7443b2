public import FoundationEssentials
import NetworkLayer

/// The short form of a failure, as `fetch(with:decode:completion:)` and `build()` report it. A
/// ``NetworkCore/NetworkError`` tells more; every other call of this library throws that one.
public enum APIError: Error, Sendable, Hashable, CaseIterable {
    /// There was no answer: the request was refused before it was sent, the connection failed, time was up.
    case requestFailed
    /// The answer's body could not be decoded.
    case jsonConversionFailure
    /// The answer had no body, or `null` for one.
    case invalidData
    /// The status was not 2xx.
    case responseUnsuccessful
    /// The decoded value was not the one that was wanted: the `decode` closure gave `nil`.
    case jsonParsingFailure
    /// The request could not be built: its URL, a header field or a parameter can't be used.
    case requestBuilderFailed

    /// What it says, for people.
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

    /// The short form of any error.
    public init(_ error: any Error) {
        switch (error as? NetworkError)?.code {
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
