// The service of the first tutorial: a request with its older name, and closures.
//
//   swift run TutorialService http://127.0.0.1:8080
import Foundation
import NetworkLayer
import NetworkLayerTutorials

struct User: Codable, Sendable {
    let id: Int
    let name: String
}

struct UserService: VAService {
    typealias ResponseType = [User]
    let base: String
    var data: RequestData { RequestData(path: base + "/users", method: .get, params: ["page": 1], headers: nil) }
}

@main
struct TutorialService {
    static func main() {
        UserService(base: CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8080").execute(
            onSuccess: { users in
                print("over \(DefaultTransport.shared.name): \(users.map(\.name).joined(separator: ", "))")
                exit(0)
            },
            onError: { error in
                FileHandle.standardError.write(Data("TutorialService: \(error)\n".utf8))
                exit(1)
            }
        )
        // The closures run on the main queue, which dispatchMain() drains.
        dispatchMain()
    }
}
