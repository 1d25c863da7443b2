import Foundation
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

/// Checks that `run` ends at once when its output can't be written: nobody will ever see the results of the requests.
@Suite("run ends when its output fails", .patience(minutes: 2)) struct ReplayOutputTests {
    private let folder = TestFolder()

    enum Place: CaseIterable, Sendable { case closedPipe, fullDevice }

    /// The input stays open and one request never gets a response, so that only the output can end the program.
    @Test(arguments: Place.allCases, [1, 2, 256])
    func `output that fails ends the run`(place: Place, concurrency: Int) async throws {
        let (stalled, quick) = (try ScriptedServer(.stalled), try ScriptedServer(.ok()))
        let pipe = try NamedPipe(in: folder)
        let target = place == .fullDevice ? " >/dev/full" : ""
        let command = "exec '\(RunningTool.path)' run ff --concurrency \(concurrency)\(target)"
        let tool = try RunningTool(["-c", command], shell: true, in: folder)
        let input = try await pipe.open(O_WRONLY)
        try tool.output.close()
        // With one request at a time, a request that never ends would leave nothing to write.
        let urls = (concurrency == 1 ? [] : [stalled.url()]) + [quick.url(), quick.url()]
        let lines = urls.map { "{\"url\":\"\($0)\"}\n" }.joined()
        try input.write(contentsOf: Data(lines.utf8))
        let expected = place == .fullDevice ? ProcessStatus.file : .closedPipe
        #expect(await tool.status == expected.rawValue)
        try input.close()
    }

    /// Lines that have been read and not started yet are not sent any more.
    @Test(arguments: Place.allCases)
    func `output that fails with the last request ends the run`(place: Place) async throws {
        let quick = try ScriptedServer(.ok())
        let pipe = try NamedPipe(in: folder)
        let target = place == .fullDevice ? " >/dev/full" : ""
        let command = "exec '\(RunningTool.path)' run ff --concurrency 2\(target)"
        let tool = try RunningTool(["-c", command], shell: true, in: folder)
        let input = try await pipe.open(O_WRONLY)
        try tool.output.close()
        try input.write(contentsOf: Data(String(repeating: "{\"url\":\"\(quick.url())\"}\n", count: 500).utf8))
        try input.close()
        let expected = place == .fullDevice ? ProcessStatus.file : .closedPipe
        #expect(await tool.status == expected.rawValue)
        #expect(quick.requests.count < 400)
    }
}
