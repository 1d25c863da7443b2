import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct NetworkErrorTests {
    @Test(
        arguments: [
            (.connectTimeout, 504), (.totalTimeout, 504), (NetworkError(.overloaded, "", phase: .queued), 503),
            (NetworkError(.circuitOpen, "", phase: .preparing), 503),
            (NetworkError(.invalidURL, "", phase: .preparing), 500),
            (NetworkError(.connectionLost, "", phase: .waiting), 502), (NetworkError(.unacceptableStatus, ""), 502),
        ] as [(NetworkError, Int)])
    func `a gateway has a status for each failure`(error: NetworkError, status: Int) {
        #expect(error.gatewayStatus.code == status)
    }

    @Test func `a catch by name matches the code`() {
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

    @Test func `every code is a pattern, one of a caller's own too`() {
        switch NetworkError(.certificateExpired, "words") as any Error {
        case NetworkError.Code.certificateUntrusted: Issue.record("another code")
        case NetworkError.Code.certificateExpired: break
        default: Issue.record("not matched")
        }
        do {
            throw NetworkError(.ofMyOwn, "words")
        } catch NetworkError.Code.nameNotResolved {
            Issue.record("matched another code")
        } catch NetworkError.Code.ofMyOwn {
        } catch {
            Issue.record("\(error) was not matched")
        }
        #expect(!(NetworkError.Code.nameNotResolved ~= CancellationError()))
    }

    @Test func `a switch by name matches the code`() {
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

    /// The media type and the charset of the response are all that a description shows of a header field.
    @Test(arguments: ["\u{1B}[2J", "\u{202E}", String(repeating: "x", count: 5000), "😀", "\r\nSet-Cookie: a"])
    func `a content type is shown short and printable`(text: String) async throws {
        let token = text.utf8.count > 100 ? text : "x"
        let type = "\(token)/\(token); charset=\"\(text)\"; boundary=SECRET; q=\"SECRET\""
        let fields: HTTPFields = [.contentType: type, .eTag: "SECRET", .server: "SECRET"]
        let transport = AnsweringTransport(.init(fields: fields, body: "<"))
        var client = NetworkClient(transport: transport)
        let request = RequestData(path: "http://h/")
        var errors: [any Error] = []
        do { _ = try await client.send(request, as: .text) } catch { errors.append(error) }
        do { _ = try await client.send(request, as: [Int].self) } catch { errors.append(error) }
        client.validation = .contentTypes("a/b")
        do { _ = try await client.send(request, as: .data) } catch { errors.append(error) }
        #expect(errors.count == 3)
        for error in errors {
            let shown = "\(error)"
            #expect(shown.utf8.count < 500, "\(shown)")
            // The unit of its time is none of the server's characters.
            let other = shown.replacing("µ", with: "u").replacing("…", with: "...")
            #expect(other.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "\(shown)")
            #expect(!shown.contains("SECRET"), "\(shown)")
        }
    }

    @Test func `a code is open and Codable`() throws {
        let code = NetworkError.Code(rawValue: "teapot")
        #expect(NetworkError(code, "short and stout").code == code && "\(code)" == "teapot")
        #expect(try JSONEncoder().encode([code]) == Data(#"["teapot"]"#.utf8))
    }

    @Test func `the description names the exchange and hides the query`() async throws {
        let data = RequestData(
            path: "http://127.0.0.1/a?token=query-secret",
            method: .post,
            parameters: ["password": "body-secret"],
            headerFields: ["Authorization": "header-secret"]
        )
        let client = NetworkClient(transport: StubTransport(always: .text("answer-secret", status: 500)))
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

    @Test func `the description holds the underlying error`() {
        let error = NetworkError(
            .connectFailed,
            "no connection to 127.0.0.1:1",
            phase: .connecting,
            underlying: .init(domain: "libcurl", code: 7, message: "Couldn't connect to server")
        )
        #expect(
            error.description == "connectFailed: no connection to 127.0.0.1:1 [libcurl 7: Couldn't connect to server]")
    }

    @Test func `errors before an exchange hold no values`() throws {
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
            RequestData(path: "http://h/", headerFields: ["X": "secret\r\n"]),
            RequestData(path: "http://h/?secret%"),
            RequestData(path: "http://h/", method: .post, parameters: ["a": "secret", "b": .double(.nan)]),
        ] {
            let error = try #require(throws: NetworkError.self) { try data.transportRequest() }
            #expect(!error.description.contains("secret"))
        }
    }
}

extension NetworkError.Code {
    fileprivate static let ofMyOwn = Self(rawValue: "ofMyOwn")
}
