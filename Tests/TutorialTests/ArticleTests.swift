import Foundation
import FoundationNetworking
import NetworkLayer
import NetworkLayerTutorials
import NetworkTesting
import TestSupport
import Testing

/// Runs the later tutorials' code over both transports. Serialized, because the tests share one place for the server's
/// address.
@Suite(.patience(minutes: 2), .serialized)
struct ArticleTests {
    static let transports: [any HTTPTransport & NetworkDispatcher] = [
        CurlNetworkDispatcher.instance, URLSessionNetworkDispatcher.instance,
    ]

    private func withDemoServer(_ body: () async throws -> Void) async throws {
        let server = DemoServer()
        try await server.start()
        TutorialAddress.set(server.baseURL)
        do {
            try await body()
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func withScript(_ script: Script, _ body: (ScriptedServer) async throws -> Void) async throws {
        let server = try ScriptedServer(script)
        defer { server.stop() }
        TutorialAddress.set(server.baseURL)
        try await body(server)
    }

    // MARK: Base request, endpoint, API client

    private func client(_ transport: any NetworkDispatcher) -> MovieClient {
        let client = MovieClient()
        client.dispatcher = transport
        return client
    }

    @Test(arguments: transports)
    func `the movie client gets its feed`(transport: any HTTPTransport & NetworkDispatcher) async throws {
        try await withDemoServer {
            for feed in [MovieFeedFromAPI.nowPlaying, .topRated] {
                let result = await called { client(transport).getFeed(from: feed, completion: $0) }
                let movies = try #require(try result.get()?.results)
                #expect(movies.count == 3)
                #expect(movies.allSatisfy { $0.title?.isEmpty == false && $0.poster_path != nil })
            }
        }
    }

    @Test(arguments: transports)
    func `the movie request is the article's`(transport: any HTTPTransport & NetworkDispatcher) async throws {
        try await withScript(.ok(#"{"results":[]}"#)) { server in
            let result = await called { client(transport).getFeed(from: .topRated, completion: $0) }
            let feed = try result.get()
            #expect(feed?.results?.isEmpty == true)
            #expect(server.requests.map(\.method) == ["GET"])
            #expect(server.requests.map(\.target) == ["/3/movie/top_rated?api_key=YOUR_KEY"])
            #expect(MovieFeedFromAPI.topRated.urlComponents.query == "api_key=YOUR_KEY")
            #expect(MovieFeedFromAPI.topRated.request.url?.path == "/3/movie/top_rated")
        }
    }

    @Test(arguments: transports)
    func `the movie failures have their cases`(transport: any HTTPTransport & NetworkDispatcher) async throws {
        let cases: [(Script, APIError)] = [
            (.response(404), .responseUnsuccessful), (.ok("<html>"), .jsonConversionFailure),
            (.ok(""), .invalidData), (.closed, .requestFailed), (.ok("null"), .invalidData),
        ]
        for (script, expected) in cases {
            try await withScript(script) { _ in
                let result = await called { client(transport).getFeed(from: .nowPlaying, completion: $0) }
                #expect(throws: expected) { try result.get() }
            }
        }
    }

    @Test func `an unwanted value is its case`() async throws {
        let client = MovieClient()
        client.dispatcher = StubTransport(always: .text("{}"))
        let result = await called { done in
            client.fetch(
                with: MovieFeedFromAPI.topRated.request,
                decode: { _ -> MovieFeedResult? in nil },
                completion: { (result: Result<MovieFeedResult, APIError>) in done(result) }
            )
        }
        #expect(throws: APIError.jsonParsingFailure) { try result.get() }
    }

    @Test func `the session's configuration counts`() async throws {
        try await withScript(.ok("{}")) { server in
            let configuration = URLSessionConfiguration.default
            configuration.httpAdditionalHeaders = ["X-Session": "yes"]
            let client = MovieClient(configuration: configuration)
            _ = await called { client.getFeed(from: .nowPlaying, completion: $0) }
            #expect(server.requests.first?.values(of: "X-Session") == ["yes"])
        }
    }

    // MARK: API request, request builder

    @Test(arguments: transports)
    func `a note gets a response`(transport: any HTTPTransport & NetworkDispatcher) async throws {
        try await withDemoServer {
            let client = NetworkClient(transport: transport)
            let (data, response, error) = await called { done in
                NotiService.getNoti(over: client) { done(($0, $1, $2)) }
            }
            #expect(error == nil)
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(response?.url?.path == "/bins/ki5o0")
            #expect(String(decoding: data ?? Data(), as: UTF8.self).contains("ki5o0"))
        }
    }

    @Test func `the article's note gets a response`() async throws {
        try await withDemoServer {
            let (data, response, error) = await called { done in NotiService.getNoti { done(($0, $1, $2)) } }
            #expect(error == nil)
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(data?.isEmpty == false)
        }
    }

    @Test(arguments: transports)
    func `API requests send what they say`(transport: any NetworkDispatcher) async throws {
        try await withDemoServer {
            let added = try await AddNote(text: "buy milk").send(over: transport).body
            #expect(added.method == "POST")
            #expect(added.path == "/echo")
            #expect(added.query.isEmpty)
            #expect(added.body == #"{"tags":["a","b"],"text":"buy milk","urgent":true}"#)
            #expect(added.value(of: "X-Source") == "tutorial")
            #expect(added.value(of: "Content-Type") == "application/json")
            let found = try await FindNotes().send(over: transport).body
            #expect(found.method == "GET")
            #expect(found.query == "page=2&q=a%2Bb%20%26%20c")

            let built = try NoteAPIClient().buildURLRequest(for: AddNote(text: "buy milk"))
            #expect(built == (try MovieClient().buildURLRequest(for: AddNote(text: "buy milk"))))
            let data = try await transport.send(built, as: .data).body
            let again = try JSONDecoder().decode(Echo.self, from: data)
            #expect(again.body == added.body)
            #expect(again.value(of: "X-Source") == "tutorial")
        }
    }

    @Test func `a request that can't be built is its error`() {
        let builder = URLRequestBuilder(with: URL(string: "ftp://h")!, path: "x")
        #expect(throws: APIError.requestBuilderFailed) { try builder.build() }
        #expect(throws: NetworkError.self) { try builder.data.urlRequest() }
    }

    // MARK: Router

    @Test(arguments: transports)
    func `the router gets movies`(transport: any HTTPTransport & NetworkDispatcher) async throws {
        try await withDemoServer {
            let manager = NetworkManager(router: Router(client: NetworkClient(transport: transport)))
            let (movies, error) = await called { done in manager.getNewMovies(page: 1) { done(($0, $1)) } }
            #expect(error == nil)
            #expect(movies?.count == 3)
        }
    }

    @Test(arguments: transports)
    func `routes are sent as they say`(transport: any HTTPTransport & NetworkDispatcher) async throws {
        try await withScript(.ok("{}")) { server in
            let router = Router<MovieApi>(client: NetworkClient(transport: transport))
            for route in [MovieApi.newMovies(page: 2), .recommended(id: 7), .rate(id: 7, value: 8.5)] {
                let (_, response, error) = await called { done in router.request(route) { done(($0, $1, $2)) } }
                #expect(error == nil)
                #expect((response as? HTTPURLResponse)?.statusCode == 200)
            }
            #expect(
                server.requests.map(\.target) == [
                    "/3/movie/now_playing?api_key=YOUR_KEY&page=2", "/3/movie/7/recommendations",
                    "/3/movie/7/rating?api_key=YOUR_KEY",
                ])
            #expect(server.requests.map(\.method) == ["GET", "GET", "POST"])
            #expect(server.requests.last?.body == Data(#"{"value":8.5}"#.utf8))
            #expect(server.requests.last?.values(of: "X-Session") == ["1"])
        }
    }

    @Test(arguments: transports)
    func `the router hands on any status`(transport: any HTTPTransport & NetworkDispatcher) async throws {
        try await withScript(.response(503, fields: [("X-A", "1"), ("X-A", "2")], body: Data("later".utf8))) { _ in
            let router = Router<MovieApi>(client: NetworkClient(transport: transport))
            let (data, response, error) = await called { done in
                router.request(.popular(page: 1)) { done(($0, $1, $2)) }
            }
            #expect(error == nil)
            #expect(data == Data("later".utf8))
            let head = try #require(response as? HTTPURLResponse)
            #expect(head.statusCode == 503)
            #expect(head.value(forHTTPHeaderField: "x-a") == "1, 2")
        }
    }

    @Test(arguments: transports)
    func `cancel ends a request under way`(transport: any HTTPTransport & NetworkDispatcher) async throws {
        try await withScript(.stalled) { server in
            let router = Router<MovieApi>(client: NetworkClient(transport: transport))
            let answers = AsyncStream<Error?> { continuation in
                for _ in 0..<2 { router.request(.popular(page: 1)) { _, _, error in continuation.yield(error) } }
            }
            try await server.wait { $0.requests.count == 2 }
            router.cancel()
            var iterator = answers.makeAsyncIterator()
            for _ in 0..<2 {
                let error = try #require(await iterator.next() ?? nil)
                #expect(NetworkError.code(of: error) == .cancelled)
            }
            router.cancel()
        }
    }

    @Test func `a custom parameter encoder is one of them`() throws {
        var request = URLRequest(url: URL(string: "http://h/")!)
        let encoders: [ParameterEncoder.Type] = [
            URLParameterEncoder.self, JSONParameterEncoder.self, PlainParameterEncoder.self,
        ]
        for encoder in encoders { try encoder.encode(urlRequest: &request, with: ["text": "a b"]) }
        #expect(request.url?.absoluteString == "http://h/?text=a%20b")
        #expect(request.httpBody == Data("a b".utf8))
        let error = #expect(throws: NetworkError.self) {
            try PlainParameterEncoder.encode(urlRequest: &request, with: [:])
        }
        #expect(error?.code == .parametersNil)
    }
}
