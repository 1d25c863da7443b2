// The typed request of the tutorials, over the transport that the environment selects:
//
//   NETWORK_TRANSPORT=urlsession swift run TutorialUsers http://127.0.0.1:8080/test
import Foundation
import NetworkLayer

struct SampleData: Codable {
    let dataField1: String
    let dataField2: String
}

struct GetAllSampleData: RequestType {
    typealias ResponseType = [SampleData]
    let path: String
    var data: RequestData { RequestData(path: path) }
}

@main
struct TutorialUsers {
    static func main() async {
        let path = CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8080/test"
        do {
            let rows = try await GetAllSampleData(path: path).send().body
            print("over \(DefaultTransport.shared.name):")
            for row in rows { print("  \(row.dataField1)  \(row.dataField2)") }
        } catch {
            FileHandle.standardError.write(Data("TutorialUsers: \(error)\n".utf8))
            exit(1)
        }
    }
}
