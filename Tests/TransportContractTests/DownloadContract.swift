import Foundation
import NetworkLayer
import NetworkTesting
import Synchronization
import TestSupport
import Testing

/// Downloads into files, in one piece and in parts.
@Suite(.patience(minutes: 1))
struct DownloadContract {
    private static let size = 400_000
    private static let content = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    private static let other = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 17 >> 2) })
    private static let cut = 150_000
    private static let start = Script.head(200, fields: [("ETag", "\"v1\""), ("Content-Length", "\(size)")])

    /// One connection: a request, and the complete content.
    private static func whole(_ content: Data = content, tag: String = "\"v1\"") -> Script {
        .raw(Script.head(200, fields: [("ETag", tag), ("Content-Length", "\(content.count)")]) + content)
    }

    /// One connection that ends in the middle of the content.
    private static let broken: Script = .raw(start + content.prefix(cut))

    /// One connection with the rest of the content from an offset.
    private static func rest(from offset: Int = cut, upTo end: Int = size) -> Script {
        let fields = [
            ("ETag", "\"v1\""), ("Content-Range", "bytes \(offset)-\(size - 1)/\(size)"),
            ("Content-Length", "\(size - offset)"),
        ]
        return .raw(Script.head(206, fields: fields) + content[offset..<end])
    }

    private static let nothingMissing: Script = .raw(
        Script.head(416, fields: [("Content-Range", "bytes */\(size)"), ("Content-Length", "0")]))

    /// A folder for a download, the server that it comes from, and the client.
    private struct Place: Sendable {
        let server: ScriptedServer
        let folder: String
        var client: NetworkClient

        var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() } }

        func contents(_ name: String = "file") throws -> Data {
            try Data(contentsOf: URL(filePath: folder + "/\(name)"))
        }

        func write(_ bytes: Data, to name: String) throws { try bytes.write(to: URL(filePath: folder + "/\(name)")) }

        /// Writes a partial file that is whole, and its record.
        func writePart(of path: String) throws {
            try write(content, to: "file.partial")
            let record = #"{"url":"\#(server.url(path))","validator":"\"v1\"","total":\#(size)}"#
            try write(Data(record.utf8), to: "file.partial.json")
        }

        func download(
            _ path: String = "/", retries: Int = 0, _ change: (inout DownloadedFile.Options) -> Void = { _ in }
        ) async throws -> NetworkResponse<DownloadedFile> {
            var options = DownloadedFile.Options()
            (options.maximumRetries, options.time) = (retries, RecordedPauses().time)
            change(&options)
            return try await client.send(
                RequestData(path: server.url(path)), as: .file(folder + "/file", options: options))
        }
    }

    private func withPlace(
        _ transport: ContractTransport, _ scripts: Script..., body: (Place) async throws -> Void
    ) async throws {
        let server = try ScriptedServer(scripts: scripts)
        defer { server.stop() }
        try await withFolder { try await body(Place(server: server, folder: $0, client: transport.client)) }
    }

    @Test(arguments: ContractTransport.all)
    func `a file is there when it is whole`(transport: ContractTransport) async throws {
        try await withPlace(transport, Self.whole()) { place in
            let steps = Guarded<[TransferProgress]>([])
            let sum = Self.sum(of: Self.content)
            let response = try await place.download("/f?key=secret") {
                $0.progress = { step in steps.withLock { $0.append(step) } }
                $0.checksum = .sha256(sum.uppercased())
            }
            let file = DownloadedFile(path: place.folder + "/file", bytes: Self.size, resumedFrom: 0, checksum: sum)
            #expect(response.body == file && response.status == .ok)
            #expect(try place.contents() == Self.content && place.names == ["file"])
            let seen = steps.withLock(\.self)
            #expect(seen.first == TransferProgress(completed: 0, total: Self.size))
            #expect(seen.last == TransferProgress(completed: Self.size, total: Self.size) && seen.last?.fraction == 1)
            #expect(seen.map(\.completed) == seen.map(\.completed).sorted())
            #expect(place.server.requests.first?.values(of: "Accept-Encoding") == ["identity"])
            #expect(place.server.requests.first?.values(of: "Range") == [])
        }
    }

    /// Regression: the download was not whole by the length, and was repeated (RFC 9112 §6.3: the coding frames it).
    @Test(arguments: ContractTransport.all, [1, 5, 1_000_000_000])
    func `a length next to a coding is not that of the file`(transport: ContractTransport, length: Int) async throws {
        let head = Script.head(
            200, fields: [("ETag", "\"v1\""), ("Content-Length", "\(length)"), ("Transfer-Encoding", "chunked")])
        try await withPlace(transport, .raw(head + Data("2\r\nab\r\n0\r\n\r\n".utf8))) { place async throws in
            #expect(try await place.download(retries: 2).body.bytes == 2)
            #expect(try place.contents() == Data("ab".utf8))
            #expect(place.server.requests.count == 1)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `an interrupted download goes on in the next one`(transport: ContractTransport) async throws {
        try await withPlace(transport, Self.broken, Self.rest()) { place in
            let error = await expectFailure(.truncatedBody) {
                try await place.download("/f?key=1&Signature=secret-1")
            }
            #expect(error?.exchange?.method == "GET")
            #expect(try place.names == ["file.partial", "file.partial.json"])
            let record = String(decoding: try place.contents("file.partial.json"), as: UTF8.self)
            #expect(!record.contains("key") && !record.contains("secret"), "the query may contain keys")
            // A URL with another signature in its query is the same file.
            let response = try await place.download("/f?key=1&Signature=secret-2") {
                $0.checksum = .sha256(Self.sum(of: Self.content))
            }
            #expect(response.body.resumedFrom == Self.cut && response.status == .partialContent)
            #expect(try place.contents() == Self.content && place.names == ["file"])
            #expect(place.server.requests.last?.values(of: "Range") == ["bytes=\(Self.cut)-"])
            #expect(place.server.requests.last?.values(of: "If-Range") == ["\"v1\""])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a connection that breaks is followed by another, in one download`(transport: ContractTransport) async throws {
        let middle = Self.cut + 50_000
        try await withPlace(
            transport, Self.broken, Self.rest(upTo: middle), .closed, Self.rest(from: middle)
        ) { place in
            let pauses = RecordedPauses()
            let response = try await place.download(retries: 3) { $0.time = pauses.time }
            #expect(response.body.resumedFrom == middle && response.attempts == 4)
            #expect(try place.contents() == Self.content)
            #expect(
                place.server.requests.map { $0.values(of: "Range").first } == [
                    nil, "bytes=\(Self.cut)-", "bytes=\(middle)-", "bytes=\(middle)-",
                ])
            #expect(pauses.all.count == 3)
            #expect(pauses.all.allSatisfy { (.milliseconds(500) ... .milliseconds(1250)).contains($0) })
        }
    }

    @Test(arguments: ContractTransport.all)
    func `the budget of retries is kept`(transport: ContractTransport) async throws {
        try await withPlace(transport, Self.broken, .closed) { place async throws in
            await expectFailure(.connectionLost) { try await place.download(retries: 2) }
            #expect(place.server.requests.count == 3)
            #expect(try place.names.contains("file.partial"))
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a changed file starts again`(transport: ContractTransport) async throws {
        try await withPlace(transport, Self.broken, Self.whole(Self.other, tag: "\"v2\"")) { place async throws in
            #expect(try await place.download(retries: 1).body.resumedFrom == 0)
            #expect(try place.contents() == Self.other)
            #expect(place.server.requests.last?.values(of: "If-Range") == ["\"v1\""])
        }
    }

    /// A server that sends a part of another version, or another part, despite If-Range.
    @Test(arguments: ContractTransport.all)
    func `a part that does not fit starts again`(transport: ContractTransport) async throws {
        try await withPlace(
            transport, Self.broken, Self.rest(from: 100_000), Self.whole(Self.other, tag: "\"v2\"")
        ) { place async throws in
            #expect(try await place.download(retries: 1).body.resumedFrom == 0)
            #expect(try place.contents() == Self.other)
            #expect(place.server.requests.map { $0.values(of: "Range").count } == [0, 1, 0])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a download that was whole already is finished`(transport: ContractTransport) async throws {
        try await withPlace(transport, Self.whole(), Self.nothingMissing) { place in
            // The first response ignores the range and is written in full; the second one reports that nothing is
            // missing.
            try place.writePart(of: "/f")
            _ = try await place.download("/f")
            try place.writePart(of: "/f")
            let response = try await place.download("/f") { $0.checksum = .sha256(Self.sum(of: Self.content)) }
            #expect(response.body.resumedFrom == Self.size)
            #expect(try place.contents() == Self.content)
        }
    }

    @Test(arguments: ContractTransport.all, [-1, 0])
    func `a download that was whole already has its limit too`(transport: ContractTransport, more: Int) async throws {
        try await withPlace(transport, Self.nothingMissing) { place in
            try place.writePart(of: "/f")
            let download = { try await place.download("/f") { $0.maximumBytes = Self.size + more } }
            if more < 0 {
                await expectFailure(.bodyTooLarge, from: download)
                #expect(try place.names.isEmpty)
            } else {
                #expect(try await download().body.bytes == Self.size)
            }
        }
    }

    /// Regression: the rest of `/f?id=2` was appended to the start of `/f?id=1`, since both had the same validator.
    @Test(arguments: ContractTransport.all)
    func `another query is another file`(transport: ContractTransport) async throws {
        let other = Script.response(fields: [("ETag", "\"v1\"")], body: Data("other".utf8))
        try await withPlace(transport, Self.broken, other) { place async throws in
            await expectFailure(.truncatedBody) { try await place.download("/f?id=1") }
            #expect(try await place.download("/f?id=2").body.resumedFrom == 0)
            #expect(place.server.requests.last?.values(of: "Range") == [])
            #expect(try place.contents() == Data("other".utf8))
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a part that was not asked for is refused`(transport: ContractTransport) async throws {
        try await withPlace(transport, Self.rest(from: 0)) { place async throws in
            var place = place
            for validation in [ResponseValidation.any, .successful] {
                place.client.validation = validation
                await expectFailure(.unacceptableStatus) { [place] in try await place.download() }
            }
            #expect(try place.names == [])
            // What an interceptor asks for is asked for.
            place.client.interceptors = [.adapting { $0.headerFields[.range] = "bytes=0-" }]
            #expect(try await place.download().status == .partialContent)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a wrong checksum leaves nothing`(transport: ContractTransport) async throws {
        try await withPlace(transport, Self.whole()) { place async throws in
            let error = await expectFailure(.checksumMismatch) {
                try await place.download { $0.checksum = .sha256(String(repeating: "0", count: 64)) }
            }
            #expect(error?.message.contains(Self.sum(of: Self.content)) == true)
            #expect(try place.names == [])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a refused status keeps the old file`(transport: ContractTransport) async throws {
        try await withPlace(transport, .response(404, body: Data("not here".utf8))) { place in
            try place.write(Data("old".utf8), to: "file")
            let error = await expectFailure(.unacceptableStatus) { try await place.download() }
            #expect(error?.response?.body == Data("not here".utf8))
            #expect(try place.contents() == Data("old".utf8) && place.names == ["file"])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a file beyond the limit is refused`(transport: ContractTransport) async throws {
        try await withPlace(transport, Self.whole()) { place async throws in
            await expectFailure(.bodyTooLarge) { try await place.download { $0.maximumBytes = Self.size - 1 } }
            #expect(try place.names == [])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `an encoding that was not asked for is refused`(transport: ContractTransport) async throws {
        let packed = Gzip.stored(Self.content)
        try await withPlace(transport, .response(fields: [("Content-Encoding", "gzip")], body: packed)) { place in
            await expectFailure(.invalidContentEncoding) { try await place.download() }
            #expect(try place.names == [])
            // If the download requested the encoding, the transport decodes it.
            _ = try await place.download { $0.resumes = false }
            #expect(try place.contents() == Self.content)
            // Without decompression, any encoding is accepted.
            try await transport.run(.rawBody) {
                var place = place
                place.client.options.decompress = false
                _ = try await place.download()
                #expect(try place.contents() == packed)
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancelled download ends at once, and keeps its part`(transport: ContractTransport) async throws {
        try await withPlace(
            transport, [.read, .send(Self.start + Self.content.prefix(Self.cut)), .stall]
        ) { place in
            let gate = Gate()
            let download = Task {
                try await place.download { $0.progress = { if $0.completed == Self.cut { gate.open() } } }
            }
            try await gate.wait()
            download.cancel()
            await expectFailure(.cancelled) { try await download.value }
            #expect(try place.contents("file.partial") == Self.content.prefix(Self.cut))
            // Only the partial file and its record remain.
            #expect(try place.names.count == 2)
        }
    }

    private static func sum(of bytes: Data) -> String {
        var checksum = SHA256Checksum()
        checksum.update(bytes)
        return checksum.finish().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
