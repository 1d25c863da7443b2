import Foundation
import NetworkLayer

/// The samples of the article on streams, files and events, word for word. `DocumentationTests` compares the two.
enum StreamSamples {
    struct User: Codable, Sendable {
        let id: Int
        let name: String
    }

    static let request = RequestData(path: "http://127.0.0.1:3000/users")

    static func client() -> NetworkClient {
        var client = NetworkClient(transport: DefaultTransport.instance)
        client.validation = .successful.and(.contentTypes("application/json", "*/*+json"))
        client.decoder = .json { $0.dateDecodingStrategy = .iso8601 }
        return client
    }

    static func oneCall(client: NetworkClient) async throws {
        let found = try await client.validating(.statuses(200...299, 404...404)).text(of: request)
        print(found.status.code, found.value)
    }

    struct FindUser: RequestType {
        typealias ResponseType = User?
        let id: Int
        var data: RequestData { RequestData(path: "http://127.0.0.1:3000/users/\(id)") }
    }

    static func problem(client: NetworkClient) async throws {
        do {
            _ = try await client.response(to: FindUser(id: 1))
        } catch let error as NetworkError where error.problem != nil {
            print(error.problem?.title ?? "", error.problem?.extensions["balance"] ?? .null)
        }
    }

    static func lines(client: NetworkClient) async throws {
        for try await line in try await client.lines(of: request).value {
            print(line)
        }

        for try await user in try await client.jsonLines(of: request, as: User.self).value {
            print(user.name)
        }
    }

    static func file(client: NetworkClient) async throws {
        var options = DownloadOptions()
        options.checksum = .sha256("2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae")
        let file = try await client.download(request, to: "/var/lib/app/model.bin", options: options).value
        print(file.bytes, file.resumedFrom)
    }

    static func progress(client: NetworkClient) async throws {
        let download = try client.startDownload(of: request, to: "/var/lib/app/model.bin")
        for try await progress in download {
            print(progress.fraction ?? 0)
        }
        print(try await download.response.value.bytes)
    }

    static func upload() throws -> (RequestBody, AsyncStream<TransferProgress>) {
        let (body, progress) = try RequestBody.file("/var/lib/app/report.pdf").withProgress()
        return (body, progress)
    }

    static func events(client: NetworkClient) async throws {
        for try await event in try client.events(of: request) {
            print(event.id, event.type, event.data)
        }
    }

    static func command() throws {
        print(try FindUser(id: 1).curlCommand())
        print(try FindUser(id: 1).curlCommand(secrets: .revealed))
    }
}
