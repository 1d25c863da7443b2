import Foundation
@testable import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct MultipartContentTests {
    private func body(_ parts: [MultipartPart], boundary: String = "b") throws -> (text: String, type: String?) {
        let encoded = try RequestContent.multipart(parts) { boundary }.encoded()
        return (String(decoding: try #require(encoded.body.knownBytes), as: UTF8.self), encoded.contentType)
    }

    /// Regression: the sum of the lengths overflowed and trapped.
    @Test func `lengths beyond an integer are an error`() throws {
        let parts = (0..<2).map { MultipartPart.stream("\($0)", AsyncStream<Data> { $0.finish() }, length: .max) }
        expectFailure(.invalidParameters) { try RequestContent.multipart(parts).encoded() }
    }

    /// Regression: the sum alone was compared, so that one part's surplus made up for what another one lacked.
    @Test(arguments: [(6, 4), (4, 6)]) func `each part has the length that it says`(lengths: (Int, Int)) async throws {
        func part(_ name: String, _ count: Int) -> MultipartPart {
            .stream(
                name,
                AsyncStream<Data> { stream in
                    for _ in 0..<count { stream.yield(Data("x".utf8)) }
                    stream.finish()
                }, length: 5)
        }
        let body = try RequestContent.multipart([part("a", lengths.0), part("b", lengths.1)]).encoded().body
        await expectFailure(.bodyLengthMismatch) { try await body.collect(upTo: 10_000) }
    }

    @Test func `parts are written in their order`() throws {
        let (text, type) = try body([
            .field("title", "Holiday"),
            .bytes("photo", Data("JPEG".utf8), fileName: "sea.jpg", contentType: "image/jpeg"),
        ])
        #expect(type == "multipart/form-data; boundary=b")
        #expect(
            text == """
                --b\r
                Content-Disposition: form-data; name="title"\r
                \r
                Holiday\r
                --b\r
                Content-Disposition: form-data; name="photo"; filename="sea.jpg"\r
                Content-Type: image/jpeg\r
                \r
                JPEG\r
                --b--\r

                """)
        #expect(try body([]).text == "--b--\r\n")
    }

    @Test(
        arguments: [
            ("a\"b", "a%22b"), ("a\r\nb", "a%0D%0Ab"), ("back\\", "back%5C"), ("né 日本 \u{1F600}", "né 日本 \u{1F600}"),
            ("100%", "100%"), ("\r\n--b--", "%0D%0A--b--"), ("x\"; filename=\"evil", "x%22; filename=%22evil"),
        ]
    )
    func `names are quoted`(name: String, written: String) throws {
        let (text, _) = try body([.bytes(name, Data(), fileName: name)], boundary: "boundary")
        #expect(text.contains("name=\"\(written)\"; filename=\"\(written)\"\r\n"))
    }

    @Test func `a control character in a name is refused`() throws {
        for name in ["a\u{0}b", "a\tb", "\u{7F}"] {
            let error = expectFailure(.invalidParameters) { try body([.field(name, "")]) }
            #expect(error?.message.contains("control character") == true)
            expectFailure(.invalidParameters) { try body([.bytes("n", Data(), fileName: name)]) }
        }
        expectFailure(.invalidHeaderField) { try body([.bytes("n", Data(), contentType: "a\r\nb")]) }
    }

    @Test func `a boundary occurs in no part`() throws {
        expectFailure(.invalidParameters) { try body([.field("n", "b")]) }
        for bad in ["", "a b", "a\r\nb", String(repeating: "x", count: 71)] {
            expectFailure(.invalidParameters) { try body([], boundary: bad) }
        }
    }

    @Test func `boundaries are random`() {
        #expect(MultipartPart.randomBoundary() != MultipartPart.randomBoundary())
    }

    @Test func `files and streams are sent in their place`() async throws {
        let path = NSTemporaryDirectory() + "multipart-\(UUID().uuidString)"
        try Data("from the disk".utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let chunks = AsyncStream<Data> { continuation in
            for text in ["one", "two"] { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }

        let known = try RequestContent.multipart([.field("a", "1"), .file("f", path: path)]).encoded().body
        #expect(known.isReplayable)
        #expect(known.knownBytes == nil)
        let announced = try RequestContent.multipart([.stream("s", chunks, length: 6)]).encoded().body
        #expect(announced.length != nil)
        #expect(!announced.isReplayable)

        let stub = StubTransport(always: .status(200))
        let data = RequestData(
            path: "http://h/",
            method: .post,
            content: .multipart([.file("f", path: path, contentType: nil), .stream("s", chunks)]) { "b" }
        )
        #expect(try data.transportRequest().body?.length == nil)
        _ = try await stub.send(data, as: .data).body
        let name = URL(filePath: path).lastPathComponent
        #expect(
            stub.sent.first?.text == """
                --b\r
                Content-Disposition: form-data; name="f"; filename="\(name)"\r
                \r
                from the disk\r
                --b\r
                Content-Disposition: form-data; name="s"\r
                Content-Type: application/octet-stream\r
                \r
                onetwo\r
                --b--\r

                """)
        _ = try await stub.send(
            RequestData(path: "http://h/", method: .post, content: .multipart([.file("f", path: path)])), as: .data
        ).body
        let replayed = stub.sent.last
        #expect(replayed?.body.count == (try RequestContent.multipart([.file("f", path: path)]).encoded().body.length))
    }

    @Test func `a missing file fails before anything is sent`() async throws {
        let stub = StubTransport()
        let data = RequestData(path: "http://h/", method: .post, content: .multipart([.file("f", path: "/no/such")]))
        let error = await expectFailure(.unreadableFile) { try await stub.send(data, as: .data).body }
        #expect(error?.message.contains("/no/such") == true)
        #expect(stub.sent.isEmpty)
    }

    @Test func `hostile parts come back from the body`() throws {
        var generator = SeededGenerator(seed: 5)
        let controls = Set((0..<0x20).compactMap { Unicode.Scalar($0) }).subtracting(["\r", "\n"]).union(["\u{7F}"])
        for round in 0..<300 {
            let parts = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                (
                    name: generator.hostileText(upTo: 12, without: controls),
                    file: Bool.random(using: &generator) ? generator.hostileText(upTo: 12, without: controls) : nil,
                    body: Data(
                        (0..<Int.random(in: 0...60, using: &generator)).map { _ in
                            [0x0D, 0x0A, 0x2D, 0x62, UInt8.random(in: 0...255, using: &generator)]
                                .randomElement(using: &generator) ?? 0
                        })
                )
            }
            let content = RequestContent.multipart(parts.map { .bytes($0.name, $0.body, fileName: $0.file) }) {
                "bb\(round)"
            }
            let encoded = try content.encoded()
            let read = try MultipartReader.read(try #require(encoded.body.knownBytes), boundary: "bb\(round)")
            #expect(read.map(\.name) == parts.map { MultipartReader.quoted($0.name) })
            #expect(read.map(\.fileName) == parts.map { $0.file.map(MultipartReader.quoted) })
            #expect(read.map(\.body) == parts.map(\.body))
        }
    }
}

/// A reader of multipart bodies that follows RFC 2046 alone.
enum MultipartReader {
    struct Part: Equatable {
        var name: String?
        var fileName: String?
        var contentType: String?
        var body: Data
    }

    struct Malformed: Error {}

    static func read(_ body: Data, boundary: String) throws -> [Part] {
        let bytes = Data("\r\n".utf8) + body
        let delimiter = Data("\r\n--\(boundary)".utf8)
        var parts: [Part] = []
        guard var at = bytes.range(of: delimiter) else { throw Malformed() }
        while true {
            let after = bytes[at.upperBound...]
            if after.starts(with: Data("--\r\n".utf8)) { return parts }
            guard after.starts(with: Data("\r\n".utf8)), let next = after.range(of: delimiter),
                let blank = after.range(of: Data("\r\n\r\n".utf8)), blank.upperBound <= next.lowerBound
            else { throw Malformed() }
            let head = Data(after[after.startIndex..<blank.upperBound])
            parts.append(
                Part(
                    name: value(of: "form-data; name=\"", in: head, until: "\""),
                    fileName: value(of: "\"; filename=\"", in: head, until: "\""),
                    contentType: value(of: "\r\nContent-Type: ", in: head, until: "\r\n"),
                    body: Data(bytes[blank.upperBound..<next.lowerBound])
                ))
            at = next
        }
    }

    /// Compares bytes: with a combining mark, a quotation mark would be another Character.
    private static func value(of start: String, in head: Data, until end: String) -> String? {
        guard let found = head.range(of: Data(start.utf8)) else { return nil }
        let rest = head[found.upperBound...]
        return rest.range(of: Data(end.utf8)).map { String(decoding: rest[..<$0.lowerBound], as: UTF8.self) }
    }

    /// Returns the form of a name on the wire.
    static func quoted(_ name: String) -> String {
        var text = name.unicodeScalars.map(String.init)
        for (character, written) in [("\"", "%22"), ("\\", "%5C"), ("\r", "%0D"), ("\n", "%0A")] {
            text = text.map { $0 == character ? written : $0 }
        }
        return text.joined()
    }
}
