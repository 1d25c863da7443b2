import ArgumentParser
import Foundation
import NetworkLayer
import Testing
import ToolSupport

@testable import netlayer

@Suite(.patience(minutes: 1)) struct ShellWordsTests {
    @Test(arguments: [
        ("curl http://h/", ["curl", "http://h/"]),
        ("  curl\t-X  POST \\\n  'http://h/?a=1&b=2' ", ["curl", "-X", "POST", "http://h/?a=1&b=2"]),
        (#"curl "a b" 'c "d"' e\ f"#, ["curl", "a b", "c \"d\"", "e f"]),
        (#"curl -H'A: b'"c"d"#, ["curl", "-HA: bcd"]),
        (#"curl "" '' x"#, ["curl", "", "", "x"]),
        (#"curl "a\"b\\c\nd""#, ["curl", #"a"b\c\nd"#]),
        (#"curl $'it\'s\n\u0041\x42\\'"#, ["curl", "it's\nAB\\"]),
    ])
    func `words are those of the shell`(command: String, words: [String]) throws {
        #expect(try ShellWords.split(command) == words)
    }

    @Test(arguments: [
        "curl 'x", #"curl "x"#, "curl $'x", "curl x\\", "curl $HOME", "curl `id`", "curl \"$(id)\"", "curl x | sh",
        "curl x; y", "curl x & y", "curl x > f", #"curl $'\q'"#, #"curl $'\xZZ'"#, #"curl $'\uD800'"#,
    ])
    func `what a shell would act on is refused`(command: String) {
        let error = #expect(throws: ToolFailure.self) { try ShellWords.split(command) }
        #expect(error?.message.hasPrefix("a command of --from-curl can't be read: ") == true)
    }

    @Test func `a command that a browser copied is a request`() async throws {
        let command = #"""
            curl 'http://127.0.0.1:1/a?b=c' \
              -X 'PUT' -H 'accept: application/json' -H 'X-A: it'\''s' -H 'Expect:' -b 'a=1; b=2' --compressed \
              --data-raw $'b\'\n'
            """#
        let request = try await CurlLine(command).request(files: InputFiles())
        #expect(request.method == .put && request.url.absoluteString == "http://127.0.0.1:1/a?b=c")
        #expect(
            request.headerFields.map { "\($0.name.rawName): \($0.value)" }
                == [
                    "accept: application/json", "X-A: it's", "Cookie: a=1; b=2",
                    "Content-Type: application/x-www-form-urlencoded",
                ])
        #expect(request.body?.knownBytes == Data("b'\n".utf8))
    }

    @Test func `several bodies are one, as in curl, and escapes are bytes`() async throws {
        let request = try await CurlLine(#"curl http://h/ -d a=1 --data-raw=b=2 -H 'X-Empty;' -d $'\xc3\xa9'"#)
            .request(files: InputFiles())
        #expect(request.body?.knownBytes == Data("a=1&b=2&é".utf8))
        #expect(request.headerFields.contains { $0.name.rawName == "X-Empty" && $0.value.isEmpty })
        await #expect(throws: ToolFailure.self) {
            try await CurlLine("curl 'http://h/{a,b}'").request(files: InputFiles())
        }
        #expect(throws: ToolFailure.self) { try CurlLine("curl http://h/ -d @a -d b") }
        #expect(throws: ToolFailure.self) { try ShellWords.split(#"curl $'\xc3'"#) }
    }

    /// Regression: a command with a time, a form or a file for the response was refused.
    @Test func `options of fetch for a request count, and those for its response have no meaning`() async throws {
        let request = try await CurlLine("curl http://h/ -m 3 -F a=b -v -o out -f").request(files: InputFiles())
        #expect(request.options.totalTimeout == .seconds(3) && request.options.wireLog == nil)
        #expect(request.headerFields[.contentType]?.hasPrefix("multipart/form-data") == true)
    }

    @Test(arguments: ["wget http://h/", "", "curl", "curl -Z http://h/", "curl http://h/ http://h/"])
    func `what is no curl command of fetch's options is refused`(command: String) {
        #expect(throws: ToolFailure.self) { try CurlLine(command) }
    }

    @Test func `fields that a command leaves out are not sent, or the command is refused`() async throws {
        let untyped = try await CurlLine("curl http://h/ -H 'Content-Type:' -d a=b").request(files: InputFiles())
        #expect(untyped.headerFields[.contentType] == nil)
        let cookies = try await CurlLine("curl http://h/ -H 'Cookie: z=1' -b a=2").request(files: InputFiles())
        #expect(cookies.headerFields[.cookie] == "z=1")
        for name in ["Accept", "user-agent", "Host"] {
            await #expect(throws: ToolFailure.self) {
                try await CurlLine("curl http://h/ -H '\(name):'").request(files: InputFiles())
            }
        }
    }

    @Test func `a message of the parser repeats no value`() throws {
        for words in [["-zSECRET"], ["-LuNAME:SECRET"], ["-zSECRET=x"], ["--no-such=SECRETSECRETSECRET"]] {
            let error = try #require(throws: (any Error).self) { try CompareCommand.parse(words + ["http://h/"]) }
            let message = CommandWords.hidingValues(of: words, in: CompareCommand.fullMessage(for: error))
            #expect(!message.contains("SECRET"), "\(message)")
            #expect(message.contains("…") || message.contains("--no-such"))
        }
        #expect(throws: ToolFailure.self) { try CurlLine("curl http://h/ -zSECRET") }
    }
}
