import Foundation
import NetworkLayer

extension ResponseForm<[[String]]> {
    static var csv: Self {
        ResponseForm<String>.text.map { text in
            text.split(separator: "\n").map { $0.split(separator: ",").map(String.init) }
        }
    }
}

extension ResponseForm<Int> {
    static var size: Self {
        ResponseForm(headerFields: [.acceptEncoding: "identity"]) { response in
            var size = 0
            for try await chunk in response.body { size += chunk.count }
            return size
        }
    }
}

/// The samples of the articles on responses and on downloads, verbatim. `DocumentationTests` compares the two.
enum StreamSamples {
    struct User: Codable, Sendable {
        let id: Int
        let name: String
    }

    static let request = RequestData(path: "http://127.0.0.1:8080/users")

    static func client() -> NetworkClient {
        var client = NetworkClient()
        client.validation = .successful.and(.contentTypes("application/json", "*/*+json"))
        client.decoder = .json { $0.dateDecodingStrategy = .iso8601 }
        return client
    }

    struct FindUser: RequestType {
        typealias ResponseType = User?
        let id: Int
        var data: RequestData { RequestData(path: "http://127.0.0.1:8080/users/\(id)") }
    }

    static func problem(client: NetworkClient) async throws {
        do {
            _ = try await client.send(FindUser(id: 1))
        } catch let error as NetworkError where error.problem != nil {
            print(error.problem?.title ?? "", error.problem?.extensions["balance"] ?? .null)
        }
    }

    static func lines(client: NetworkClient) async throws {
        for try await line in try await client.send(request, as: .lines).body {
            print(line)
        }

        for try await user in try await client.send(request, as: .jsonLines(of: User.self)).body {
            print(user.name)
        }
    }

    static func file(client: NetworkClient) async throws {
        var options = DownloadedFile.Options()
        options.checksum = .sha256("2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae")
        let file = try await client.send(request, as: .file("/var/lib/app/model.bin", options: options)).body
        print(file.bytes, file.resumedFrom)
    }

    static func form(client: NetworkClient) async throws {
        let form = RequestContent.multipart([
            .field("title", "A report"),
            .file("report", path: "/var/lib/app/report.pdf", contentType: "application/pdf"),
        ])
        let upload = RequestData(
            path: "http://127.0.0.1:8080/upload",
            method: .post,
            content: form.reportingProgress { progress in print(progress.fraction ?? 0) }
        )
        print(try await client.send(upload, as: .text).status.code)
    }

    static func stream(client: NetworkClient) async throws {
        let rows = AsyncStream<Data> { continuation in
            for number in 1...3 { continuation.yield(Data("row \(number)\n".utf8)) }
            continuation.finish()
        }
        let streamed = RequestData(
            path: "http://127.0.0.1:8080/upload",
            method: .post,
            content: .stream(rows, length: 18, contentType: "text/plain")
        )
        print(try await client.send(streamed, as: .text).body)
    }

    static func talk(client: NetworkClient) async throws {
        let (turns, speaker) = AsyncStream<Data>.makeStream()
        speaker.yield(Data("hello".utf8))
        let talk = RequestData(path: "http://127.0.0.1:8080/chat", method: .post, content: .stream(turns))
        let answers = try await client.send(talk, as: .stream).body
        for try await answer in answers { speaker.yield(answer) }
        speaker.finish()
    }

    static func upload(client: NetworkClient, checksum: Task<String, Never>) async throws {
        var upload = RequestData(
            path: "http://127.0.0.1:8080/upload",
            method: .put,
            content: .file("/var/lib/app/model.bin").followed { [.init("X-Checksum")!: await checksum.value] },
            headerFields: ["Trailer": "X-Checksum"]
        )
        upload.expectContinue = .seconds(1)
        upload.interimResponse = { hint in print(hint.status.code, hint.headerFields) }
        print(try await client.send(upload, as: .text).status.code)
    }

    static func times(client: NetworkClient) async throws {
        let response = try await client.send(request, as: .data)
        print(response.metrics.total, response.metrics.firstByte ?? .zero, response.metrics.httpVersion ?? "unknown")
    }

    static func printEvents(_ events: ServerSentEvents) async throws {
        var iterator = events.makeAsyncIterator()
        while let event = try await iterator.next() {
            if event.type == "ready" { break }
        }
        while let event = try await iterator.next() {
            print(event.data)
        }
    }

    static func events(client: NetworkClient) async throws {
        for try await event in try await client.send(request, as: .events).body {
            print(event.id, event.type, event.data)
        }
    }
}
