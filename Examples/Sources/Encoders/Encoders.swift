// The bodies that a request can have: JSON, a form, multipart, bytes, a text, and the output of a custom encoder. The
// server returns what it received.
//
//   swift run Encoders http://127.0.0.1:8080
import Foundation
import NetworkLayer

struct Note: Codable, Sendable {
    let text: String
    let tags: [String]
}

/// The response of the demo server's `/echo`.
struct Echo: Codable, Sendable {
    let query: String
    let headers: [[String]]
    let bodyBase64: String

    var contentType: String { headers.first { $0[0].lowercased() == "content-type" }?[1] ?? "none" }
    var body: String { String(decoding: Data(base64Encoded: bodyBase64) ?? Data(), as: UTF8.self) }
}

/// Rows as comma-separated values: a custom encoder takes one small type like this.
struct CSVContent: BodyEncoder {
    let rows: [[String]]

    func encode() throws -> RequestContent.Encoded {
        let text = rows.map { $0.joined(separator: ",") }.joined(separator: "\r\n")
        return RequestContent.Encoded(.bytes(Data(text.utf8)), contentType: "text/csv")
    }
}

extension RequestContent {
    static func csv(_ rows: [[String]]) -> RequestContent { RequestContent(CSVContent(rows: rows)) }
}

@main
struct Encoders {
    static func main() async {
        let base = CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8080"
        let contents: [(name: String, content: RequestContent)] = [
            ("json", .json(Note(text: "sea & sun", tags: ["a", "b"]))),
            ("form", .form(["text": "sea & sun", "tags": ["a", "b"]])),
            (
                "multipart",
                .multipart([.field("text", "sea & sun"), .bytes("photo", Data("JPEG".utf8), fileName: "a.jpg")])
            ),
            ("bytes", .bytes(Data([0x61, 0x62]), contentType: "application/octet-stream")),
            ("text", .text("sea & sun")),
            ("csv", .csv([["sea", "sun"], ["1", "2"]])),
        ]
        do {
            for (name, content) in contents {
                let echo = try await post(content, to: base)
                print("\(name): \(echo.contentType)")
                for line in echo.body.split(whereSeparator: \.isNewline) { print("    \(line)") }
            }
            var search = RequestData(
                path: "echo", baseURL: base, parameters: ["q": "a+b", "tags": ["x", "y"], "exact": true])
            search.conventions.arrays = .brackets
            search.conventions.booleans = .numbers
            print("query: \(try await search.send(as: Echo.self).body.query)")
            try await upload(to: base)
            print("over \(DefaultTransport.shared.name): done")
        } catch {
            FileHandle.standardError.write(Data("Encoders: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func post(_ content: RequestContent, to base: String) async throws -> Echo {
        let request = RequestData(path: "echo", baseURL: base, method: .post, content: content)
        return try await request.send(as: Echo.self).body
    }

    /// Uploads a file. The transport streams it if it can; otherwise it reads the file into memory.
    private static func upload(to base: String) async throws {
        let path = NSTemporaryDirectory() + "encoders-\(UUID().uuidString).txt"
        try Data(repeating: 0x61, count: 100_000).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let content = RequestContent.multipart([.file("file", path: path, contentType: "text/plain")])
        let request = RequestData(path: "upload", baseURL: base, method: .post, content: content)
        print("file: \(try await request.send(as: .text).body)")
    }
}
