import ArgumentParser
import Foundation
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

@Suite(.patience(minutes: 1)) struct ExchangeOptionsTests {
    @Test(arguments: [["--user", "ada"], ["--digest"], ["--digest", "--basic", "--user", "a:b"]])
    func `options that make no sense are refused without their text`(arguments: [String]) {
        #expect {
            try FetchCommand.parse(["http://127.0.0.1/"] + arguments)
        } throws: { !FetchCommand.message(for: $0).contains("ada") }
    }

    @Test func `user and range go out as fields`() async throws {
        let server = try ScriptedServer(.ok())
        try await FetchCommand.parse([server.url(), "-u", "ada:se:cret", "-r", "-500", "-o", "/dev/null"]).run()
        let request = try #require(server.requests.first)
        #expect(request.values(of: "Authorization") == ["Basic " + Data("ada:se:cret".utf8).base64EncodedString()])
        #expect(request.values(of: "Range") == ["bytes=-500"])
        #expect(request.values(of: "Accept-Encoding") == ["identity"])
    }

    @Test func `Digest responds to the challenge`() async throws {
        let challenge = [("WWW-Authenticate", #"Digest realm="r", nonce="n", qop="auth""#)]
        let server = try ScriptedServer(.response(401, fields: challenge, body: Data()), .ok())
        let command = ["-u", "ada:secret", "--digest", "-o", "/dev/null", "--transport", "curl"]
        try await FetchCommand.parse([server.url()] + command).run()
        #expect(server.requests.count == 2)
        #expect(server.requests.last?.values(of: "Authorization").first?.hasPrefix("Digest username=\"ada\"") == true)
    }

    @Test func `a proxy is asked`() async throws {
        let proxy = try ScriptedServer(.ok())
        let command = ["http://name.invalid/x", "-x", proxy.url(), "-o", "/dev/null", "--transport", "curl"]
        try await FetchCommand.parse(command).run()
        #expect(proxy.requests.first?.target == "http://name.invalid/x")
    }
}
