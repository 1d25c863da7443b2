// A request builder with chained steps, a request with an associated resource type, and a callback for a URLRequest.
//
//   swift run TutorialNotes http://127.0.0.1:8080
import Foundation
import FoundationNetworking
import NetworkLayer
import NetworkLayerTutorials

struct Note: Codable, Sendable {
    let id: String
    let text: String
}

struct GetNote: APIRequest {
    typealias Resource = Note
    let baseURL: URL
    let path: String
    var method: HTTPMethod { .get }
    var parameters: RequestParams { .url(["full": true]) }
    var headers: [String: Any]? { ["X-Source": "tutorial"] }
}

enum NoteService {
    static func getNote(base: URL, path: String, completion: @escaping RequestCallback) throws {
        let urlRequest = try URLRequestBuilder(with: base, path: path)
            .set(method: .get)
            .set(headers: ["Accept": "application/json"])
            .set(parameters: .url(["full": true]))
            .build()
        NetworkClient.shared.send(urlRequest, completion: completion)
    }
}

@main
struct TutorialNotes {
    static func main() async {
        do {
            guard let base = URL(string: CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8080/") else {
                throw NetworkError.invalidURL
            }
            let note = try await GetNote(baseURL: base, path: "bins/ki5o0").send().body
            print("over \(DefaultTransport.shared.name): \(note.id), \(note.text)")
            let (data, response, error) = try await withCheckedThrowingContinuation { continuation in
                do {
                    try NoteService.getNote(base: base, path: "bins/ki5o0") {
                        continuation.resume(returning: ($0, $1, $2))
                    }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
            guard let data, let response = response as? HTTPURLResponse else { throw error ?? NetworkError.noData }
            print("\(response.statusCode): \(String(decoding: data, as: UTF8.self))")
        } catch {
            FileHandle.standardError.write(Data("TutorialNotes: \(error)\n".utf8))
            exit(1)
        }
    }
}
