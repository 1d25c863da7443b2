// swift-format-ignore-file
// The code as printed in the tutorials, except for the import.
import NetworkLayer
import NetworkLayerTutorials

struct SampleData: Codable {
    let dataField1: String
    let dataField2: String
}

struct GetAllSampleData: RequestType {
    typealias ResponseType = [SampleData]
    var data: RequestData {
        return RequestData(path: "http://127.0.0.1:3000/test")
    }
}

// The older tutorial's name for the protocol.
struct GetAllSampleDataService: VAService {
    typealias ResponseType = [SampleData]
    var data: RequestData {
        return RequestData(path: "http://127.0.0.1:3000/test", method: .get, params: nil, headers: nil)
    }
}
