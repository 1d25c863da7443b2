// The same typed request over both transports, side by side:
//
//   swift run BothTransports http://127.0.0.1:8080/test
import Foundation
import NetworkLayer

struct SampleData: Codable, Equatable {
    let dataField1: String
    let dataField2: String
}

struct GetAllSampleData: RequestType {
    typealias ResponseType = [SampleData]
    let path: String
    var data: RequestData { RequestData(path: path) }
}

@main
struct BothTransports {
    static func main() async {
        let request = GetAllSampleData(path: CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8080/test")
        do {
            let curl = try await request.send(over: CurlNetworkDispatcher.shared)
            let urlSession = try await request.send(over: URLSessionNetworkDispatcher.shared)
            print(line("", "curl", "urlsession"))
            print(line("status", "\(curl.status.code)", "\(urlSession.status.code)"))
            for row in 0..<max(curl.body.count, urlSession.body.count) {
                print(line("[\(row)]", text(curl.body, row), text(urlSession.body, row)))
            }
            print(curl.body == urlSession.body ? "Both transports agree." : "The transports differ.")
        } catch {
            FileHandle.standardError.write(Data("BothTransports: \(error)\n".utf8))
            exit(1)
        }
    }

    static func text(_ rows: [SampleData], _ index: Int) -> String {
        guard rows.indices.contains(index) else { return "-" }
        return "\(rows[index].dataField1), \(rows[index].dataField2)"
    }

    static func line(_ columns: String...) -> String {
        columns.map { $0.padding(toLength: 16, withPad: " ", startingAt: 0) }.joined()
    }
}
