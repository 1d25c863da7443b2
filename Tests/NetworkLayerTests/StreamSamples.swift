import Foundation
import NetworkLayer

/// The samples of the article on streams, files, and events, verbatim. `DocumentationTests` compares the two.
enum StreamSamples {
    struct User: Codable, Sendable {
        let id: Int
        let name: String
    }

    static let request = RequestData(path: "http://127.0.0.1:8080/users")

    static func client() -> NetworkClient {
        var client = NetworkClient(transport: DefaultTransport.instance)
        client.validation = .successful.and(.contentTypes("application/json", "*/*+json"))
        client.decoder = .json { $0.dateDecodingStrategy = .iso8601 }
        return client
    }

    static func oneCall(client: NetworkClient) async throws {
        let found = try await client.with { $0.validation = .statuses(200...299, 404...404) }.send(request, as: .text)
        print(found.status.code, found.body)
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

    struct Page: Decodable {
        var users: [User]
        var next: String?
    }

    static func pages(client: NetworkClient) async throws {
        var next: String? = "users?limit=100"
        while let path = next {
            let page = try await client.send(RequestData(path: path), as: Page.self).body
            for user in page.users { print(user.name) }
            next = page.next
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

    static func progress(client: NetworkClient) async throws {
        var options = DownloadedFile.Options()
        options.progress = { print($0.fraction ?? 0) }
        let file = try await client.send(request, as: .file("/var/lib/app/model.bin", options: options)).body
        print(file.bytes)
    }

    static func form(client: NetworkClient) async throws {
        let form = RequestContent.multipart([
            .field("title", "A report"),
            .file("report", path: "/var/lib/app/report.pdf", contentType: "application/pdf"),
        ])
        let upload = RequestData(
            path: "http://127.0.0.1:8080/reports",
            method: .post,
            content: form.reporting { progress in print(progress.fraction ?? 0) }
        )
        print(try await client.send(upload, as: .text).status.code)
    }

    static func upload() throws -> TransportRequest.Body {
        try TransportRequest.Body.file("/var/lib/app/report.pdf").reporting { print($0.fraction ?? 0) }
    }

    static func events(client: NetworkClient) async throws {
        for try await event in try await client.send(request, as: .events).body {
            print(event.id, event.type, event.data)
        }
    }

    static func command(client: NetworkClient) throws {
        print(try client.curlCommand(FindUser(id: 1)))
        print(try client.curlCommand(FindUser(id: 1), secrets: .revealed))
    }
}
