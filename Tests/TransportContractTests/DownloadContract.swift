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

    /// One connection: a request, and the complete content.
    private static func whole(_ content: Data = content, tag: String = "\"v1\"") -> Script {
        let head = Script.head(200, fields: [("ETag", tag), ("Content-Length", "\(content.count)")])
        return [.read, .send(head + content), .close]
    }

    /// One connection that ends in the middle of the content.
    private static let broken: Script = [
        .read, .send(Script.head(200, fields: [("ETag", "\"v1\""), ("Content-Length", "\(size)")])),
        .send(content.prefix(cut)), .close,
    ]

    /// One connection with the rest of the content from an offset.
    private static func rest(from offset: Int = cut, upTo end: Int = size) -> Script {
        let fields = [
            ("ETag", "\"v1\""), ("Content-Range", "bytes \(offset)-\(size - 1)/\(size)"),
            ("Content-Length", "\(size - offset)"),
        ]
        return [.read, .send(Script.head(206, fields: fields) + content[offset..<end]), .close]
    }

    private func settings(retries: Int = 0) -> DownloadedFile.Options {
        var options = DownloadedFile.Options()
        options.maximumRetries = retries
        options.time = RecordedPauses().time
        return options
    }

    private func client(_ transport: ContractTransport) -> NetworkClient {
        var client = NetworkClient(transport: transport.transport)
        client.options.totalTimeout = .seconds(30)
        return client
    }

    @Test(arguments: ContractTransport.all)
    func `a file is there when it is whole`(transport: ContractTransport) async throws {
        try await withFolder { folder in
            let server = try ScriptedServer(Self.whole())
            defer { server.stop() }
            let steps = Guarded<[TransferProgress]>([])
            var options = settings()
            options.progress = { step in steps.withLock { $0.append(step) } }
            let sum = Self.sum(of: Self.content)
            options.checksum = .sha256(sum.uppercased())
            let response = try await client(transport).send(
                RequestData(path: server.url("/f?key=secret")), as: .file(folder + "/file", options: options))
            #expect(
                response.body
                    == DownloadedFile(path: folder + "/file", bytes: Self.size, resumedFrom: 0, checksum: sum))
            #expect(response.status == .ok)
            #expect(try Data(contentsOf: URL(filePath: folder + "/file")) == Self.content)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
            let seen = steps.withLock { $0 }
            #expect(seen.first == TransferProgress(completed: 0, total: Self.size))
            #expect(seen.last == TransferProgress(completed: Self.size, total: Self.size))
            #expect(seen.map(\.completed) == seen.map(\.completed).sorted())
            #expect(server.requests.first?.values(of: "Accept-Encoding") == ["identity"])
            #expect(server.requests.first?.values(of: "Range") == [])
        }
    }

    /// Regression: the download was not whole by the length, and was repeated (RFC 9112 §6.3: the coding frames it).
    @Test(arguments: ContractTransport.all, [1, 5, 1_000_000_000])
    func `a length next to a coding is not that of the file`(transport: ContractTransport, length: Int) async throws {
        try await withFolder { folder in
            let head = Script.head(
                200, fields: [("ETag", "\"v1\""), ("Content-Length", "\(length)"), ("Transfer-Encoding", "chunked")])
            let server = try ScriptedServer([.read, .send(head + Data("2\r\nab\r\n0\r\n\r\n".utf8)), .close])
            defer { server.stop() }
            let response = try await client(transport).send(
                RequestData(path: server.url()), as: .file(folder + "/file", options: settings(retries: 2)))
            #expect(response.body.bytes == 2)
            #expect(try Data(contentsOf: URL(filePath: folder + "/file")) == Data("ab".utf8))
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `an interrupted download goes on in the next one`(transport: ContractTransport) async throws {
        try await withFolder { folder in
            let server = try ScriptedServer(Self.broken, Self.rest())
            defer { server.stop() }
            let error = await expectFailure(.truncatedBody) {
                try await client(transport).send(
                    RequestData(path: server.url("/f?key=1&Signature=secret-1")),
                    as: .file(folder + "/file", options: settings()))
            }
            #expect(error?.exchange?.method == "GET")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
                    "file.partial", "file.partial.json",
                ])
            let record = try String(contentsOfFile: folder + "/file.partial.json", encoding: .utf8)
            #expect(!record.contains("key") && !record.contains("secret"), "the query may contain keys")
            var options = settings()
            options.checksum = .sha256(Self.sum(of: Self.content))
            // A URL with another signature in its query is the same file.
            let response = try await client(transport).send(
                RequestData(path: server.url("/f?key=1&Signature=secret-2")),
                as: .file(folder + "/file", options: options))
            #expect(response.body.resumedFrom == Self.cut)
            #expect(response.status == .partialContent)
            #expect(try Data(contentsOf: URL(filePath: folder + "/file")) == Self.content)
            let second = try #require(server.requests.last)
            #expect(second.values(of: "Range") == ["bytes=\(Self.cut)-"])
            #expect(second.values(of: "If-Range") == ["\"v1\""])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a connection that breaks is followed by another, in one download`(transport: ContractTransport) async throws {
        try await withFolder { folder in
            let middle = Self.cut + 50_000
            let server = try ScriptedServer(
                Self.broken, Self.rest(upTo: middle), .closed, Self.rest(from: middle))
            defer { server.stop() }
            let pauses = RecordedPauses()
            var options = settings(retries: 3)
            options.time = pauses.time
            let response = try await client(transport).send(
                RequestData(path: server.url()), as: .file(folder + "/file", options: options))
            #expect(response.body.resumedFrom == middle)
            #expect(response.attempts == 4)
            #expect(try Data(contentsOf: URL(filePath: folder + "/file")) == Self.content)
            #expect(
                server.requests.map { $0.values(of: "Range").first } == [
                    nil, "bytes=\(Self.cut)-", "bytes=\(middle)-", "bytes=\(middle)-",
                ])
            #expect(pauses.all.count == 3)
            #expect(pauses.all.allSatisfy { (.milliseconds(500) ... .milliseconds(1250)).contains($0) })
        }
    }

    @Test(arguments: ContractTransport.all)
    func `the budget of retries is kept`(transport: ContractTransport) async throws {
        try await withFolder { folder in
            let server = try ScriptedServer(Self.broken, .closed)
            defer { server.stop() }
            await expectFailure(.connectionLost) {
                try await client(transport).send(
                    RequestData(path: server.url()), as: .file(folder + "/file", options: settings(retries: 2)))
            }
            #expect(server.requests.count == 3)
            #expect(FileManager.default.fileExists(atPath: folder + "/file.partial"))
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a changed file starts again`(transport: ContractTransport) async throws {
        try await withFolder { folder in
            let server = try ScriptedServer(Self.broken, Self.whole(Self.other, tag: "\"v2\""))
            defer { server.stop() }
            let response = try await client(transport).send(
                RequestData(path: server.url()), as: .file(folder + "/file", options: settings(retries: 1)))
            #expect(response.body.resumedFrom == 0)
            #expect(try Data(contentsOf: URL(filePath: folder + "/file")) == Self.other)
            #expect(server.requests.last?.values(of: "If-Range") == ["\"v1\""])
        }
    }

    /// A server that sends a part of another version, or another part, despite If-Range.
    @Test(arguments: ContractTransport.all)
    func `a part that does not fit starts again`(transport: ContractTransport) async throws {
        try await withFolder { folder in
            let server = try ScriptedServer(
                Self.broken, Self.rest(from: 100_000), Self.whole(Self.other, tag: "\"v2\""))
            defer { server.stop() }
            let response = try await client(transport).send(
                RequestData(path: server.url()), as: .file(folder + "/file", options: settings(retries: 1)))
            #expect(response.body.resumedFrom == 0)
            #expect(try Data(contentsOf: URL(filePath: folder + "/file")) == Self.other)
            #expect(server.requests.map { $0.values(of: "Range").count } == [0, 1, 0])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a download that was whole already is finished`(transport: ContractTransport) async throws {
        try await withFolder { folder in
            let server = try ScriptedServer(
                Self.whole(), .raw(Script.head(416, fields: [("Content-Range", "bytes */\(Self.size)")])))
            defer { server.stop() }
            let url = server.url("/f")
            try Self.content.write(to: URL(filePath: folder + "/file.partial"))
            try Data(#"{"url":"\#(url)","validator":"\"v1\"","total":\#(Self.size)}"#.utf8)
                .write(to: URL(filePath: folder + "/file.partial.json"))
            // The first response ignores the range and is written in full; the second one reports that nothing is
            // missing.
            _ = try await client(transport).send(
                RequestData(path: url), as: .file(folder + "/file", options: settings()))
            try Self.content.write(to: URL(filePath: folder + "/file.partial"))
            try Data(#"{"url":"\#(url)","validator":"\"v1\"","total":\#(Self.size)}"#.utf8)
                .write(to: URL(filePath: folder + "/file.partial.json"))
            var options = settings()
            options.checksum = .sha256(Self.sum(of: Self.content))
            let response = try await client(transport).send(
                RequestData(path: url), as: .file(folder + "/file", options: options))
            #expect(response.body.resumedFrom == Self.size)
            #expect(try Data(contentsOf: URL(filePath: folder + "/file")) == Self.content)
        }
    }

    @Test(arguments: ContractTransport.all, [-1, 0])
    func `a download that was whole already has its limit too`(transport: ContractTransport, more: Int) async throws {
        try await withFolder { folder in
            let server = try ScriptedServer(
                .raw(Script.head(416, fields: [("Content-Range", "bytes */\(Self.size)"), ("Content-Length", "0")])))
            defer { server.stop() }
            let url = server.url("/f")
            try Self.content.write(to: URL(filePath: folder + "/file.partial"))
            try Data(#"{"url":"\#(url)","validator":"\"v1\"","total":\#(Self.size)}"#.utf8)
                .write(to: URL(filePath: folder + "/file.partial.json"))
            var options = settings()
            options.maximumBytes = Self.size + more
            let download = { [options] in
                try await self.client(transport).send(
                    RequestData(path: url), as: .file(folder + "/file", options: options))
            }
            if more < 0 {
                await expectFailure(.bodyTooLarge, from: download)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
            } else {
                #expect(try await download().body.bytes == Self.size)
            }
        }
    }

    /// Regression: the rest of `/f?id=2` was appended to the start of `/f?id=1`, since both had the same validator.
    @Test(arguments: ContractTransport.all)
    func `another query is another file`(transport: ContractTransport) async throws {
        try await withFolder { folder in
            let server = try ScriptedServer(
                Self.broken, .response(fields: [("ETag", "\"v1\"")], body: Data("other".utf8)))
            defer { server.stop() }
            await expectFailure(.truncatedBody) {
                try await client(transport).send(
                    RequestData(path: server.url("/f?id=1")), as: .file(folder + "/file", options: settings()))
            }
            let response = try await client(transport).send(
                RequestData(path: server.url("/f?id=2")), as: .file(folder + "/file", options: settings()))
            #expect(response.body.resumedFrom == 0)
            #expect(server.requests.last?.values(of: "Range") == [])
            #expect(try Data(contentsOf: URL(filePath: folder + "/file")) == Data("other".utf8))
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a part that was not asked for is refused`(transport: ContractTransport) async throws {
        try await withFolder { folder in
            let server = try ScriptedServer(Self.rest(from: 0))
            defer { server.stop() }
            for validation in [ResponseValidation.successful, .any] {
                let client = client(transport).with { $0.validation = validation }
                await expectFailure(.unacceptableStatus) {
                    try await client.send(
                        RequestData(path: server.url()), as: .file(folder + "/file", options: settings()))
                }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
            // What an interceptor asks for is asked for.
            let asking = client(transport).with {
                $0.interceptors = [.adapting { $0.headerFields[.range] = "bytes=0-" }]
            }
            let part = try await asking.send(
                RequestData(path: server.url()), as: .file(folder + "/file", options: settings()))
            #expect(part.status == .partialContent)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a wrong checksum leaves nothing`(transport: ContractTransport) async throws {
        try await withFolder { folder in
            let server = try ScriptedServer(Self.whole())
            defer { server.stop() }
            var options = settings()
            options.checksum = .sha256(String(repeating: "0", count: 64))
            let error = await expectFailure(.checksumMismatch) {
                try await client(transport).send(
                    RequestData(path: server.url()), as: .file(folder + "/file", options: options))
            }
            #expect(error?.message.contains(Self.sum(of: Self.content)) == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a refused status keeps the old file`(transport: ContractTransport) async throws {
        try await withFolder { folder in
            let server = try ScriptedServer(.response(404, body: Data("not here".utf8)))
            defer { server.stop() }
            try Data("old".utf8).write(to: URL(filePath: folder + "/file"))
            let error = await expectFailure(.unacceptableStatus) {
                try await client(transport).send(
                    RequestData(path: server.url()), as: .file(folder + "/file", options: settings()))
            }
            #expect(error?.response?.body == Data("not here".utf8))
            #expect(try String(contentsOfFile: folder + "/file", encoding: .utf8) == "old")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a file beyond the limit is refused`(transport: ContractTransport) async throws {
        try await withFolder { folder in
            let server = try ScriptedServer(Self.whole())
            defer { server.stop() }
            var options = settings()
            options.maximumBytes = Self.size - 1
            await expectFailure(.bodyTooLarge) {
                try await client(transport).send(
                    RequestData(path: server.url()), as: .file(folder + "/file", options: options))
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `an encoding that was not asked for is refused`(transport: ContractTransport) async throws {
        try await withFolder { folder in
            let packed = Gzip.stored(Self.content)
            let server = try ScriptedServer(.response(fields: [("Content-Encoding", "gzip")], body: packed))
            defer { server.stop() }
            await expectFailure(.invalidContentEncoding) {
                try await client(transport).send(
                    RequestData(path: server.url()), as: .file(folder + "/file", options: settings()))
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
            // If the download requested the encoding, the transport decodes it.
            var options = settings()
            options.resumes = false
            let file = folder + "/file"
            _ = try await client(transport).send(RequestData(path: server.url()), as: .file(file, options: options))
            #expect(try Data(contentsOf: URL(filePath: file)) == Self.content)
            // Without decompression, any encoding is accepted.
            try await transport.run(.rawBody) {
                var client = client(transport)
                client.options.decompress = false
                _ = try await client.send(RequestData(path: server.url()), as: .file(file, options: settings()))
                #expect(try Data(contentsOf: URL(filePath: file)) == packed)
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `progress reaches the whole length`(transport: ContractTransport) async throws {
        try await withFolder { folder in
            let server = try ScriptedServer(Self.whole())
            defer { server.stop() }
            let steps = Guarded<[TransferProgress]>([])
            var options = settings()
            options.progress = { step in steps.withLock { $0.append(step) } }
            let file = try await client(transport).send(
                RequestData(path: server.url()), as: .file(folder + "/file", options: options)
            ).body
            #expect(file.bytes == Self.size)
            #expect(steps.withLock { $0.last?.fraction } == 1)
            #expect(steps.withLock { $0.map(\.completed) == $0.map(\.completed).sorted() })
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancelled download ends at once, and keeps its part`(transport: ContractTransport) async throws {
        try await withFolder { folder in
            let head = Script.head(200, fields: [("ETag", "\"v1\""), ("Content-Length", "\(Self.size)")])
            let server = try ScriptedServer([.read, .send(head + Self.content.prefix(Self.cut)), .stall])
            defer { server.stop() }
            let gate = Gate()
            var options = settings()
            options.progress = { if $0.completed == Self.cut { gate.open() } }
            let download = Task { [options] in
                try await client(transport).send(
                    RequestData(path: server.url()), as: .file(folder + "/file", options: options))
            }
            try await gate.wait()
            download.cancel()
            await expectFailure(.cancelled) { try await download.value }
            let part = try Data(contentsOf: URL(filePath: folder + "/file.partial"))
            #expect(part == Self.content.prefix(Self.cut))
            // Only the partial file and its record remain.
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
        }
    }

    private static func sum(of bytes: Data) -> String {
        var checksum = SHA256Checksum()
        checksum.update(bytes)
        return checksum.finish().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// Calls `body` with a temporary folder, and removes the folder afterwards.
func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "networklayer-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}
