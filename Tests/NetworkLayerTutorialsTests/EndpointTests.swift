import Foundation
import NetworkCore
import NetworkLayerTutorials
import NetworkTesting
import TestSupport
import Testing

private struct Feed: Codable, Equatable {
    let page: Int
}

private struct FeedRequest: RequestType {
    typealias ResponseType = Feed
    var data: RequestData { RequestData(path: "http://h/3/movie/top?key=k&page=2", headerFields: ["X-A": "1"]) }
}

private enum FeedEndpoint: Endpoint {
    case top
    var base: String { "http://h" }
    var path: String { "/3/movie/top" }
    var apiKey: String { "key=k" }
    var query: [String: ParameterValue]? { ["page": 2] }
}

private struct FeedAPIRequest: APIRequest {
    typealias Resource = Feed
    var baseURL: URL { URL(string: "http://h/3/movie/")! }
    var path: String { "top" }
    var method: HTTPRequest.Method { .get }
    var parameters: RequestParams { .url(["page": 2, "key": "k"]) }
    var headers: [String: Any]? { ["X-A": 1] }
}

private enum FeedAPI: EndPointType {
    case top
    case rate(Double)
    case bad
    var baseURL: URL { URL(string: "http://h/3/movie/")! }
    var path: String { "top" }
    var httpMethod: HTTPRequest.Method { if case .rate = self { .post } else { .get } }
    var task: HTTPTask {
        switch self {
        case .top: .requestParameters(bodyParameters: nil, urlParameters: ["page": 2, "key": "k"])
        case .rate(let value):
            .requestParametersAndHeaders(
                bodyParameters: ["value": value],
                urlParameters: ["key": "k"],
                additionHeaders: ["x-a": "2"]
            )
        case .bad: .requestParameters(bodyParameters: nil, urlParameters: ["when": NSObject()])
        }
    }
    var headers: HTTPHeaders? { ["X-A": "1"] }
}

@Suite(.patience(minutes: 1))
struct EndpointTests {
    @Test func `five names make one request`() throws {
        let builder = URLRequestBuilder(with: URL(string: "http://h/3/movie")!, path: "")
            .set(method: .get).set(path: "/top").set(headers: ["X-A": "1"])
            .set(parameters: .url(["page": 2, "key": "k"]))
        let all: [any RequestConvertible] = [FeedRequest(), FeedEndpoint.top, FeedAPIRequest(), builder, FeedAPI.top]
        for request in all {
            let made = try request.data.transportRequest()
            #expect(made.method == .get)
            #expect(made.url.absoluteString == "http://h/3/movie/top?key=k&page=2")
            #expect(made.body == nil)
            if !(request is FeedEndpoint) { #expect(made.headerFields == [HTTPField.Name("X-A")!: "1"]) }
        }
    }

    @Test func `any of them is decoded`() async throws {
        let stub = StubTransport().always(.get("/3/movie/top"), .json(Feed(page: 2)))
        #expect(try await FeedRequest().send(over: stub).body == Feed(page: 2))
        #expect(try await FeedAPIRequest().send(over: stub).body == Feed(page: 2))
        #expect(try await FeedEndpoint.top.send(as: Feed.self, over: stub).body == Feed(page: 2))
        #expect(try await FeedAPI.top.send(as: Feed.self, over: stub).body == Feed(page: 2))
        #expect(try await NetworkClient(transport: stub).send(FeedEndpoint.top, as: Feed.self).body.page == 2)
        #expect(Set(stub.sent.map(\.target)) == ["/3/movie/top?key=k&page=2"])
    }

    @Test func `a task has body, query and headers`() throws {
        let made = try FeedAPI.rate(7.5).data.transportRequest()
        #expect(made.method == .post)
        #expect(made.url.query == "key=k")
        #expect(made.body?.knownBytes == Data(#"{"value":7.5}"#.utf8))
        #expect(made.headerFields == [HTTPField.Name("x-a")!: "2", .contentType: "application/json"])
    }

    @Test func `an endpoint that can't be sent is named`() throws {
        let parameter = expectFailure(.invalidParameters) { try FeedAPI.bad.data.transportRequest() }
        #expect(parameter?.message.contains("'when' has the type") == true)
        let builder = URLRequestBuilder(with: URL(string: "http://h")!, path: "x").set(headers: ["X-Bad": [1]])
        let header = expectFailure(.invalidHeaderField) { try builder.data.transportRequest() }
        #expect(header?.message.contains("'X-Bad'") == true)
        builder.set(headers: ["X-B": true, "X-N": 2.5, "X-None": Int?.none as Any])
        #expect(try builder.data.transportRequest().headerFields.map(\.value) == ["true", "2.5"])
        builder.set(path: "../x")
        expectFailure(.invalidURL) { try builder.data.transportRequest() }
        builder.set(path: "x").set(parameters: .body(["d": Data()]))
        expectFailure(.invalidParameters) { try builder.data.transportRequest() }
    }

    @Test func `URL components are those of the request`() {
        let components = FeedEndpoint.top.urlComponents
        #expect(components.host == "h")
        #expect(components.path == "/3/movie/top")
        #expect(
            components.queryItems == [URLQueryItem(name: "key", value: "k"), URLQueryItem(name: "page", value: "2")])
        struct Nowhere: BaseRequest {
            let base = "no base"
            let path = ""
        }
        #expect(Nowhere().urlComponents == URLComponents())
        expectFailure(.invalidURL) { try Nowhere().data.transportRequest() }
    }

    @Test(
        arguments: [
            ("", nil), ("a=1", "a=1"), ("a=1&b=%2B+", "a=1&b=%2B+"), ("a", "a"), ("b=1&a=2&b=3", "b=1&a=2&b=3"),
            ("a=%FF", "a=%FF"), ("&&", nil), ("a=1&\u{301}=2", "a=1&%CC%81=2"), ("=x", "=x"),
        ] as [(String, String?)])
    func `an API key is part of the query`(key: String, query: String?) throws {
        struct Keyed: BaseRequest {
            let base = "http://h"
            let path = "p"
            let apiKey: String
        }
        #expect(try Keyed(apiKey: key).data.transportRequest().url.query == query)
    }

    @Test func `APIError is the short form`() {
        #expect(APIError(NetworkError(.unacceptableStatus, "")) == .responseUnsuccessful)
        #expect(APIError(NetworkError(.decodingFailed, "")) == .jsonConversionFailure)
        #expect(APIError(NetworkError.noData) == .invalidData)
        #expect(APIError(NetworkError.connectTimeout) == .requestFailed)
        #expect(APIError(APIError.jsonParsingFailure) == .jsonParsingFailure)
        #expect(APIError(CancellationError()) == .requestFailed)
        #expect(
            APIError.allCases.map(\.localizedDescription) == [
                "Request Failed", "JSON Conversion Failure", "Invalid Data", "Response Unsuccessful",
                "JSON Parsing Failure", "Request Builder Failed",
            ])
        #expect((APIError.invalidData as any Error).localizedDescription == "Invalid Data")
    }

    @Test func `the tutorials' errors match by code`() {
        func name(_ error: any Error) -> String {
            switch error {
            case NetworkError.parametersNil: "parametersNil"
            case NetworkError.encodingFailed: "encodingFailed"
            case NetworkError.missingURL: "missingURL"
            default: "other"
            }
        }
        #expect(name(NetworkError.parametersNil) == "parametersNil")
        #expect(name(NetworkError(.invalidParameters, "x")) == "encodingFailed")
        #expect(name(NetworkError(.invalidURL, "x")) == "missingURL")
        #expect(name(NetworkError.noData) == "other")
    }
}
