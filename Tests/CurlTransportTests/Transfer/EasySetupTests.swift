import Foundation
import HTTPTypes
import NetworkCore
import Testing

@testable import CurlTransport

@Suite("What a handle is set up for")
struct EasySetupTests {
    private func request(_ fields: HTTPFields, authorities: String? = nil) throws -> TransportRequest {
        var request = TransportRequest(method: .get, url: try RequestURL("http://a/"), headerFields: fields)
        if let authorities { request.options.tls.authorities = .file(authorities) }
        return request
    }

    private func name(_ text: String) throws -> HTTPField.Name { try #require(HTTPField.Name(text)) }

    @Test func theSameLinesFit() throws {
        let request = try request([.accept: "a", .acceptLanguage: "b"], authorities: "/\u{E9}")
        #expect(EasySetup(request)?.fits(request) == true)
    }

    /// Fields were compared by meaning, and the last request's lines went out.
    @Test func otherLinesOfTheSameMeaningDoNot() throws {
        let setup = try #require(EasySetup(request([.accept: "a", .acceptLanguage: "b"])))
        #expect(try setup.fits(request([.acceptLanguage: "b", .accept: "a"])) == false)
        #expect(try setup.fits(request([name("accept"): "a", .acceptLanguage: "b"])) == false)
        #expect(try setup.fits(request([.accept: "a"])) == false)
    }

    @Test func equalTextOfOtherBytesDoesNot() throws {
        #expect(try EasySetup(request([.accept: "\u{E9}"]))?.fits(request([.accept: "e\u{301}"])) != true)
        #expect(try EasySetup(request([.accept: "K"]))?.fits(request([.accept: "\u{212A}"])) == false)
    }

    @Test func anotherMethodOrAnotherWayOfTheBodyDoesNot() throws {
        func post(_ count: Int, _ method: HTTPMethod = .post) throws -> TransportRequest {
            TransportRequest(method: method, url: try RequestURL("http://a/"), body: .bytes(Data(count: count)))
        }
        let setup = try #require(EasySetup(post(1)))
        #expect(try setup.fits(post(BodyPassage.maximumCopied)))
        #expect(try !setup.fits(post(BodyPassage.maximumCopied + 1)))
        #expect(try !setup.fits(post(1, .put)))
        #expect(try !setup.fits(request([:])))
        var streamed = try post(1)
        streamed.body = .stream(AsyncStream<Data> { $0.finish() })
        #expect(EasySetup(streamed) == nil)
        var expecting = try post(1)
        expecting.headerFields[.expect] = "100-continue"
        #expect(EasySetup(expecting) == nil)
    }

    /// Two files may have names that Swift calls equal.
    @Test func anotherFileDoesNot() throws {
        let setup = try #require(EasySetup(request([:], authorities: "/\u{E9}")))
        #expect(try setup.fits(request([:], authorities: "/e\u{301}")) == false)
    }
}
