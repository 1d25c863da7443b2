import Foundation
import NetworkCore
import NetworkRecording
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 2))
struct RecordedSecretsTests {
    @Test(arguments: CanaryPlace.all)
    func `no secret reaches the file`(_ place: CanaryPlace) async throws {
        let folder = try TemporaryFolder()
        let file = try RecordingFile(folder.file())
        let memory = RecordingMemory()
        var sent = 0
        for secret in CanarySecret.all {
            // Some are no user or password of a URL.
            guard let request = try? place.request(secret) else { continue }
            sent += 1
            for target in [true, false] {
                let stub = StubTransport(always: place.response(secret))
                let transport =
                    target ? RecordingTransport(stub, to: file) : RecordingTransport(stub, to: memory)
                guard request.body?.isReplayable ?? true || target else { continue }
                if let response = try? await transport.send(request) { _ = try? await response.body.chunks() }
            }
        }
        try await file.close()
        let text = try folder.text()
        #expect(sent > 20)
        #expect(file.writtenCount == sent)
        #expect(text.contains("_redacted") || place.testDescription == "an error")
        let written = await memory.recording().harText()
        for secret in CanarySecret.all {
            #expect(secret.forms(in: text) == [], "\(secret)")
            #expect(secret.forms(in: written) == [], "\(secret)")
        }
        #expect(throws: Never.self) { try Recording(har: text) }
    }

    @Test func `a closure of the caller leaves out more`() async throws {
        let memory = RecordingMemory()
        var options = RecordingTransport.Options()
        options.redact = { entry in
            // The rule has run.
            if entry.request.headerFields[.authorization] == "REDACTED" { entry.request.url = "http://h/hidden" }
        }
        let transport = RecordingTransport(StubTransport(always: .text("x")), to: memory, options: options)
        try await transport.get("http://h/canary", fields: [.authorization: "Basic abc"])
        #expect(await memory.recording().entries.map(\.request.url) == ["http://h/hidden"])
    }

    @Test func `a recording that is made by hand is written without its secrets`() throws {
        var recording = Recording(entries: [Recording.Entry(request: .init(url: "http://u:canary@h/?token=canary"))])
        recording.entries[0].request.headerFields[.authorization] = "canary"
        #expect(!recording.harText().contains("canary"))
        for printer in CanaryPrinter.all {
            #expect(!printer.text(recording).contains("canary"))
            #expect(!printer.text(recording.entries[0]).contains("canary"))
        }
    }
}
