import Foundation
import NetworkCore
import TestSupport
import Testing

private struct Note: Codable, Equatable {
    var text: String
    var at: Date?
    var score: Double?
}

private struct CSVContent: BodyEncoder {
    struct Ragged: Error, Equatable {}
    let rows: [[String]]

    func encode() throws -> RequestContent.Encoded {
        guard Set(rows.map(\.count)).count <= 1 else { throw Ragged() }
        let text = rows.map { $0.joined(separator: ",") }.joined(separator: "\r\n")
        return RequestContent.Encoded(.bytes(Data(text.utf8)), contentType: "text/csv")
    }
}

extension RequestContent {
    fileprivate static func csv(_ rows: [[String]]) -> RequestContent { RequestContent(CSVContent(rows: rows)) }
}

@Suite(.patience(minutes: 1))
struct RequestContentTests {
    private func sent(_ content: RequestContent, headers: [String: String] = [:]) throws -> TransportRequest {
        try RequestData(path: "http://h/", method: .post, content: content, headerFields: headers).transportRequest()
    }

    @Test func `JSON is sorted and typed`() throws {
        let request = try sent(.json(["b": Note(text: "é/", score: 1.5), "a": Note(text: "")]))
        #expect(request.headerFields[.contentType] == "application/json")
        #expect(request.body?.knownBytes == Data(#"{"a":{"text":""},"b":{"score":1.5,"text":"é/"}}"#.utf8))
    }

    @Test func `JSON is encoded by the encoder of choice`() throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        let request = try sent(.json([Date(timeIntervalSince1970: 5)], encoder: encoder))
        #expect(request.body?.knownBytes == Data("[5]".utf8))
    }

    @Test func `a value that JSON lacks is named and not shown`() throws {
        let error = expectFailure(.invalidParameters) { try sent(.json([Note(text: "secret", score: .nan)])) }
        #expect(error?.message.contains("'[0].score'") == true, "\(String(describing: error))")
        #expect(error?.description.contains("secret") == false)
        let parameter = expectFailure(.invalidParameters) { try sent(.json(parameters: ["x": .double(.nan)])) }
        #expect(parameter?.message.contains("'x' is nan") == true)
    }

    @Test func `a form is encoded as the URL standard has it`() throws {
        let request = try sent(.form(["b c": "+ &=~*é", "a": [1, true], "none": nil]))
        #expect(request.headerFields[.contentType] == "application/x-www-form-urlencoded")
        #expect(request.body?.knownBytes == Data("a=1&a=true&b+c=%2B+%26%3D%7E*%C3%A9".utf8))
        expectFailure(.invalidParameters) { try sent(.form(["x": .double(.infinity)])) }
    }

    @Test func `hostile texts come back from the form`() throws {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<500 {
            var fields: [String: String] = [:]
            for _ in 0..<4 { fields["n" + generator.hostileText(upTo: 6)] = generator.hostileText(upTo: 20) }
            let body = try #require(try sent(.form(fields.mapValues { .string($0) })).body?.knownBytes)
            // Reads a form by the standard: split, replace `+` with a space, percent-decode.
            var read: [String: String] = [:]
            for pair in String(decoding: body, as: UTF8.self).components(separatedBy: "&") {
                let parts = pair.components(separatedBy: "=").map {
                    $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
                }
                try #require(parts.count == 2)
                let name: String = try #require(parts[0])
                let value: String = try #require(parts[1])
                read[name] = value
            }
            #expect(read == fields)
        }
    }

    /// `JSONSerialization` reads the body here, since it shares no code with the encoder.
    @Test func `hostile texts come back from JSON`() throws {
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<300 {
            let texts = (0..<4).map { _ in generator.hostileText(upTo: 20) }
            let name = generator.hostileText(upTo: 8)
            let parameters: [String: ParameterValue] = [name: .array(texts.map { .object([$0: .string($0)]) })]
            let body = try #require(try sent(.json(parameters: parameters)).body?.knownBytes)
            let read = try JSONSerialization.jsonObject(with: body) as? [String: [[String: String]]]
            #expect(read == [name: texts.map { [$0: $0] }])
        }
    }

    @Test func `plain contents are as they are`() throws {
        #expect(try sent(.bytes(Data([0, 255]))).body?.knownBytes == Data([0, 255]))
        #expect(try sent(.bytes(Data())).headerFields[.contentType] == "application/octet-stream")
        #expect(try sent(.text("é")).body?.knownBytes == Data("é".utf8))
        #expect(try sent(.text("é")).headerFields[.contentType] == "text/plain; charset=utf-8")
        #expect(try sent(.bytes(Data(), contentType: nil)).headerFields[.contentType] == nil)
        let error = expectFailure(.unreadableFile) { try sent(.file("/nowhere/at/all")) }
        #expect(error?.message.contains("/nowhere/at/all") == true)
        let path = NSTemporaryDirectory() + "content-\(UUID().uuidString)"
        try Data("file".utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(try sent(.file(path, contentType: "text/csv")).body?.length == 4)
    }

    @Test func `a content type of the caller stays`() throws {
        let request = try sent(.json(1), headers: ["content-type": "application/vnd.x+json"])
        #expect(request.headerFields[values: .contentType] == ["application/vnd.x+json"])
    }

    @Test func `a content type that is no header is refused`() throws {
        expectFailure(.invalidHeaderField) { try sent(.bytes(Data(), contentType: "a/b\r\nX: y")) }
    }

    @Test func `a custom encoder is one of them`() throws {
        let request = try sent(.csv([["a", "b"], ["c", "d"]]))
        #expect(request.headerFields[.contentType] == "text/csv")
        #expect(request.body?.knownBytes == Data("a,b\r\nc,d".utf8))
        #expect(throws: CSVContent.Ragged()) { try sent(.csv([["a"], ["b", "c"]])) }
    }

    @Test func `a refusal is thrown before anything else`() {
        var data = RequestData(path: "no URL")
        data.refusal = CSVContent.Ragged()
        #expect(throws: CSVContent.Ragged()) { try data.transportRequest() }
    }

    @Test func `an idle timeout replaces the client's`() throws {
        var data = RequestData(path: "http://h/")
        #expect(try data.transportRequest().options.idleTimeout == .seconds(60))
        data.idleTimeout = .seconds(5)
        #expect(try data.transportRequest().options.idleTimeout == .seconds(5))
    }
}
