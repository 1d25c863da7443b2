import Foundation

/// A child process of the driver: it receives units and returns findings. It may crash or hang, which is a finding too.
final class Child {
    /// The outcome of a unit.
    enum Verdict: Equatable {
        case done([String])
        case ended(String)
        case hung
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let errors: URL
    private var buffer: [UInt8] = []
    /// Whether the unit itself is over, and its last step runs alone.
    private var isAlone = false
    /// The peer's steps on each connection of the last unit, if the child reports them.
    private var scripts: [Int: [String]] = [:]
    let settings: Settings

    init(_ settings: Settings, isTelling: Bool = false) throws {
        self.settings = settings
        errors = URL(filePath: NSTemporaryDirectory() + "isolation-\(UUID().uuidString).txt")
        try Data().write(to: errors)
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["work", settings.folder, settings.front]
        var environment = ProcessInfo.processInfo.environment
        // The backtrace of a crash takes seconds. Freed memory is overwritten, so that its use shows.
        environment["SWIFT_BACKTRACE"] = "enable=no"
        environment["MALLOC_PERTURB_"] = environment["MALLOC_PERTURB_"] ?? "165"
        if isTelling { environment["ISOLATION_TELLS"] = "yes" }
        for name in ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"] { environment[name] = nil }
        process.environment = environment
        process.standardInput = input
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    /// The peer's scripts, in the order of the connections.
    var transcript: [[String]] { scripts.sorted { $0.key < $1.key }.map(\.value) }

    func run(_ steps: [Step], number: Int = 1, first: Int = 0) -> Verdict {
        let line = "\(number)\t\(first)\t\(steps.text)\n"
        (scripts, isAlone) = ([:], false)
        do { try input.fileHandleForWriting.write(contentsOf: Data(line.utf8)) } catch { return ending() }
        var found: [String] = []
        let deadline = Date.now + settings.patience
        while let line = readLine(until: deadline) {
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            if words[0] == "ALONE" { isAlone = true }
            if words[0] == "SCRIPT", words.count == 3, !isAlone {
                scripts[Int(words[1]) ?? 0, default: []].append(words[2])
            }
            guard words.count > 1, words[1] == "\(number)" else { continue }
            if words[0] == "END" { return .done(found) }
            if words[0] == "FOUND", words.count == 3, let data = Data(base64Encoded: words[2]) {
                found.append(String(decoding: data, as: UTF8.self))
            }
        }
        if Date.now >= deadline, process.isRunning {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            return .hung
        }
        return ending()
    }

    /// Returns how the process ended, with the first lines of its error output.
    private func ending() -> Verdict {
        process.waitUntilExit()
        let how = process.terminationReason == .uncaughtSignal ? "signal" : "status"
        let said = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
        let lines = said.split(separator: "\n").filter { !$0.isEmpty }.prefix(60).joined(separator: "\n")
        return .ended("\(how) \(process.terminationStatus)\n\(lines)")
    }

    private func readLine(until deadline: Date) -> String? {
        while true {
            if let end = buffer.firstIndex(of: 10) {
                defer { buffer.removeFirst(end + 1) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            let descriptor = output.fileHandleForReading.fileDescriptor
            let socket = PeerSocket(descriptor: descriptor)
            let rest = deadline.timeIntervalSinceNow
            guard rest > 0, socket.isReady(milliseconds: Int32(rest * 1_000) + 1) else { return nil }
            let bytes = output.fileHandleForReading.availableData
            guard !bytes.isEmpty else { return nil }
            buffer += bytes
        }
    }

    func end() {
        try? input.fileHandleForWriting.close()
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: errors)
    }
}
