import Foundation
import TrialSupport

/// The child process: reads units from its input, one on each line, runs them and prints its findings.
///
///     unit:   NUMBER <tab> NUMBER OF THE FIRST STEP, or -1 for all at once <tab> STEP STEP …
///     output: SCRIPT CONNECTION STEP, ALONE, FOUND NUMBER BASE64, END NUMBER
final class Worker {
    private let runner: Runner
    private var alone: [String: Observation] = [:]
    private let front: Process
    /// The program that speaks TLS ends when this pipe closes.
    private let input = Pipe()
    private var units = 0
    private var descriptors = 0

    init(folder: String, front program: String) throws {
        ThisProcess.ignorePipes()
        front = Process()
        front.executableURL = URL(filePath: program)
        front.arguments = [folder]
        let output = Pipe()
        front.standardInput = input
        front.standardOutput = output
        try front.run()
        var text = ""
        while !text.hasSuffix("\n"), let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty {
            text += String(decoding: byte, as: UTF8.self)
        }
        guard let port = UInt16(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw PeerFailure("the program that speaks TLS has not printed its port")
        }
        let peer = try Peer(front: port, folder: folder)
        try input.fileHandleForWriting.write(contentsOf: Data("\(peer.one)\n".utf8))
        ThisProcess.set("http_proxy", "http://\(Kind.environment)@localhost:\(peer.proxy)")
        ThisProcess.set("no_proxy", "127.0.0.1,localhost,::1,test.invalid,localtest,unix.test,moved.test")
        runner = try Runner(peer: peer, folder: folder)
    }

    func work() async {
        while let line = readLine() {
            let parts = line.split(separator: "\t").map(String.init)
            guard parts.count == 3 else { continue }
            do {
                let steps = try parts[2].split(separator: " ").map { try Step(String($0)) }
                for fault in await judge(steps, first: Int(parts[1]) ?? 0) {
                    Self.say("FOUND \(parts[0]) \(Data(fault.utf8).base64EncodedString())")
                }
            } catch {
                Self.say("FOUND \(parts[0]) \(Data("the trial itself: \(error)".utf8).base64EncodedString())")
            }
            Self.say("END \(parts[0])")
        }
        front.terminate()
    }

    private func judge(_ steps: [Step], first: Int) async -> [String] {
        guard let last = steps.last else { return [] }
        if first < 0 {
            let run = await runner.runAtOnce(steps)
            return await Judge(runner: runner, steps: steps, run: run).faultsAtOnce + leaks()
        }
        let run = await runner.run(steps, first: first)
        let judge = Judge(runner: runner, steps: steps, run: run, first: first)
        var faults = judge.faults
        if steps.count > 1, last.outcome.isSteady {
            Self.say("ALONE")
            faults += judge.differences(from: await observation(of: last, first + steps.count - 1))
        }
        return await faults + leaks()
    }

    /// Returns the observation of the last step alone, over its own dispatcher. It is made once.
    private func observation(of step: Step, _ number: Int) async -> Observation {
        let key = "\(step) \(number)"
        if let known = alone[key] { return known }
        let run = await runner.run([step], first: number)
        alone[key] = run.observations[0]
        return run.observations[0]
    }

    /// Returns a fault if the number of descriptors grows after the first units.
    private func leaks() async -> [String] {
        units += 1
        guard units % 50 == 0 else { return [] }
        var now = ProcessFigures.now.descriptors
        guard descriptors > 0 else {
            descriptors = now
            return []
        }
        // A thread that is just ending may hold some.
        for _ in 0..<100 where now > descriptors + 8 {
            try? await Task.sleep(for: .milliseconds(50))
            now = ProcessFigures.now.descriptors
        }
        guard now > descriptors + 8 else { return [] }
        let grown = now - descriptors
        descriptors = now
        return ["descriptors grew by \(grown) within 50 units"]
    }

    static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
