import Foundation
import NetworkCore
import NetworkTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct NetworkErrorTests {
    @Test func catchByName_matchesTheCode() {
        do {
            throw NetworkError(.invalidURL, "some words", phase: .preparing)
        } catch NetworkError.invalidURL {
        } catch {
            Issue.record("\(error) was not matched")
        }
        do {
            throw NetworkError.noData
        } catch NetworkError.invalidURL {
            Issue.record("matched another code")
        } catch NetworkError.noData {
        } catch {
            Issue.record("\(error) was not matched")
        }
    }

    @Test func switchByName_matchesTheCode() {
        let error: any Error = NetworkError(.totalTimeout, "words")
        switch error {
        case NetworkError.idleTimeout: Issue.record("another code")
        case NetworkError.totalTimeout: break
        default: Issue.record("not matched")
        }
        #expect(NetworkError.cancelled ~= CancellationError())
        #expect(!(NetworkError.idleTimeout ~= CancellationError()))
        #expect(NetworkError.code(of: CancellationError()) == .cancelled)
        #expect(NetworkError.code(of: CocoaError(.fileNoSuchFile)) == nil)
    }

    @Test func code_isOpenAndCodable() throws {
        let code = NetworkError.Code(rawValue: "teapot")
        #expect(NetworkError(code, "short and stout").code == code)
        #expect(try JSONEncoder().encode([code]) == Data(#"["teapot"]"#.utf8))
    }

    @Test func description_namesTheExchangeAndHidesTheQuery() async throws {
        let data = RequestData(
            path: "http://127.0.0.1/a?token=query-secret",
            method: .post,
            params: ["password": "body-secret"],
            headers: ["Authorization": "header-secret"]
        )
        let client = NetworkClient(transport: StubDispatcher(always: .text("answer-secret", status: 500)))
        let error = try await #require(throws: NetworkError.self) { try await client.send(data, as: .data) }
        #expect(error.description.contains("POST http://127.0.0.1/a?… over stub"))
        #expect(error.description.contains("500"))
        #expect(!error.description.contains("secret"))
        #expect(!error.localizedDescription.contains("secret"))
        #expect(!"\(error)".contains("secret"))
        #expect(error.localizedDescription == error.description)
        #expect(error.unredactedDescription.contains("answer-secret"))
        #expect(error.response?.body == Data("answer-secret".utf8))
    }

    @Test func description_holdsTheUnderlyingError() {
        let error = NetworkError(
            .connectFailed,
            "no connection to 127.0.0.1:1",
            phase: .connecting,
            underlying: .init(domain: "libcurl", code: 7, message: "Couldn't connect to server")
        )
        #expect(
            error.description == "connectFailed: no connection to 127.0.0.1:1 [libcurl 7: Couldn't connect to server]")
    }

    @Test func errorsBeforeAnExchange_holdNoValues() throws {
        for data in [
            RequestData(path: "http://secret@secret@h/"),
            RequestData(path: "http://us%3Aer:secret@h/"),
            RequestData(path: "http://user:secret%@h/"),
            RequestData(path: "http://user:secret%ff@h/"),
            RequestData(path: "http://user:secret%0a@h/"),
            RequestData(path: "http://[secret]@h/"),
            RequestData(path: "http://user:secret@h:x/"),
            RequestData(path: "http://user:secret@/"),
            RequestData(path: "secret:secret@h/"),
            RequestData(path: "../x", baseURL: "http://user:secret@h/"),
            RequestData(path: "http://h/", headers: ["X": "secret\r\n"]),
            RequestData(path: "http://h/?secret%"),
            RequestData(path: "http://h/", method: .post, params: ["a": "secret", "b": .double(.nan)]),
        ] {
            let error = try #require(throws: NetworkError.self) { try data.transportRequest() }
            #expect(!error.description.contains("secret"))
        }
    }
}
