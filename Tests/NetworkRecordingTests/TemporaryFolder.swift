import Foundation
import NetworkCore
import NetworkRecording

/// A folder that is removed with the object.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Returns the path of a file in the folder.
    func file(_ name: String = "test.har") -> String { "\(path)/\(name)" }

    /// Returns the text of a file.
    func text(_ name: String = "test.har") throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: file(name))), as: UTF8.self)
    }
}

extension RecordingTransport.Options {
    /// Bodies without a structure are recorded too.
    static var allBodies: Self { Self(bodies: .all) }
}

extension HTTPFields {
    /// The fields as lines, in order and as written.
    var lines: [String] { map { "\($0.name.rawName): \($0.value)" } }
}

extension TransportResponse.Body {
    /// Reads the body chunk by chunk.
    func chunks() async throws -> [Data] {
        var chunks: [Data] = []
        for try await chunk in self { chunks.append(chunk) }
        return chunks
    }
}

extension HTTPTransport {
    /// Sends a request, and reads its body.
    @discardableResult
    func get(
        _ url: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:], body: String? = nil
    ) async throws -> (head: HTTPResponse, body: Data) {
        let request = try TransportRequest(
            method: method, to: url, headerFields: fields, body: body.map { .bytes(Data($0.utf8)) })
        let response = try await send(request)
        return (response.head, try await response.body.collect())
    }
}
