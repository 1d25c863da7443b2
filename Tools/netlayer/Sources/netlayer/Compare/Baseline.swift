import Foundation
import JSONText
import NetworkComparison
import NetworkLayer

/// An earlier comparison, read from the JSON that it wrote.
struct Baseline: Sendable {
    private struct File: Decodable {
        struct Arm: Decodable {
            var name: String
            var library: String
            var arm: String?
        }
        struct Design: Decodable {
            var concurrency: Int
            var rate: Double?
            var warmUp: Int?
        }
        struct Figures: Decodable {
            var name: String
            var blocks: [Block]
        }
        struct Target: Decodable {
            var url: String
            var request: String?
            var arms: [Figures]
        }
        var arms: [Arm]
        var design: Design
        var urls: [Target]
        var environment: [String: String]
    }

    /// Whether the numbers are those of an experiment, and can be calculated with.
    private static func isPlausible(_ file: File) -> Bool {
        func isPlausible(_ number: Double) -> Bool { number >= 0 && number <= 1e15 }
        return file.design.rate.map(isPlausible) ?? true
            && file.urls.flatMap(\.arms).flatMap(\.blocks).allSatisfy { block in
                isPlausible(block.seconds) && isPlausible(block.cpuMicroseconds)
                    && [block.requests, block.connections ?? 0, block.attempts ?? 0].allSatisfy {
                        (0...1_000_000_000).contains($0)
                    } && (block.latencies + block.colds).allSatisfy(isPlausible)
            }
    }

    /// The largest file that is read, in bytes.
    private static let maximumBytes = 1 << 30

    private let file: File

    /// Reads a file that `--save` or `--as-json` has written.
    /// - Throws: ``ToolFailure`` for a file that can't be read, or is none of these.
    init(path: String) async throws {
        let bytes = try await ByteSource(path: path).readAll(limit: Self.maximumBytes)
        do {
            file = try JSONDecoder().decode(File.self, from: Data(bytes))
            guard Self.isPlausible(file) else { throw ToolFailure(.file, "") }
        } catch {
            throw ToolFailure(.file, "\(path) is no result of a comparison (--save, --as-json)")
        }
    }

    /// Checks that there is something to compare, before anything is sent.
    /// - Throws: ``ToolFailure`` if the file has none of the arms, or none of the requests.
    func check(arms: [String], requests: [String]) throws {
        let then = file.arms.map(\.name)
        guard arms.contains(where: then.contains) else {
            throw ToolFailure(.usage, "the baseline has none of these arms; it has \(Self.shown(then))")
        }
        guard requests.contains(where: { request in file.urls.contains { $0.request == request } }) else {
            throw ToolFailure(
                .usage, "the baseline has none of these requests; it has \(Self.shown(file.urls.map(\.url)))")
        }
    }

    /// Returns the number of arms and requests that the file has too.
    func comparisons(arms: [String], requests: [String]) -> Int {
        requests.reduce(0) { count, request in
            let target = file.urls.first { $0.request == request }
            return count + arms.count { name in target?.arms.contains { $0.name == name } == true }
        }
    }

    private static func shown(_ names: [String]) -> String {
        let shown = names.prefix(8).map { "'\(TerminalText.line($0))'" }.joined(separator: ", ")
        return names.count > 8 ? "\(shown) and \(names.count - 8) more" : shown
    }

    /// Returns what the result has and the file lacks, in words.
    func missing(of result: ExperimentResult) -> [String] {
        let then = file.arms.map(\.name)
        return result.arms.map(\.name).filter { !then.contains($0) }
            .map { "the baseline has no arm '\($0)'; it has \(Self.shown(then))" }
            + result.urls.filter { target(of: $0) == nil }.map { "the baseline has no such request: \($0.url)" }
    }

    /// Returns the verdicts on how each arm has changed since then, where both have it. There is none of use where the
    /// blocks had another size: equal arms would differ.
    func verdicts(on result: ExperimentResult) -> [Verdict] {
        var generator = SeededGenerator(seed: result.design.seed)
        var pairs: [(url: ExperimentResult.URLResult, name: String, now: [Block], before: [Block])] = []
        for (index, url) in result.urls.enumerated() {
            for arm in result.arms {
                guard let before = target(of: url)?.arms.first(where: { $0.name == arm.name }) else { continue }
                pairs.append((url, arm.name, arm.figures[index].blocks, before.blocks))
            }
        }
        return pairs.flatMap { url, name, now, before in
            var changes = Verdicts.changes(
                url: url.url, arm: name, now: now, before: before, noise: url.noise,
                comparisons: result.design.comparisons, metrics: result.metrics, using: &generator)
            if !Self.areAlike(Self.size(of: before), Self.size(of: now)) {
                for index in changes.indices where changes[index].interval != nil {
                    changes[index].interval = nil
                    changes[index].obstacle = "no verdict, since the blocks had another size"
                }
            }
            return changes
        }
    }

    /// The median size of blocks, in requests.
    private static func size(of blocks: [Block]) -> Int {
        blocks.isEmpty ? 0 : blocks.map(\.requests).sorted()[blocks.count / 2]
    }

    /// Whether blocks of two sizes may be compared: a block begins with idle workers and cold caches, so that a request
    /// of a small one takes longer.
    private static func areAlike(_ then: Int, _ now: Int) -> Bool {
        then == 0 || now == 0 || Double(max(then, now)) <= likeness * Double(min(then, now))
    }

    /// Returns what the file has of the same request. Two of them may be shown alike, without queries and bodies.
    private func target(of url: ExperimentResult.URLResult) -> File.Target? {
        file.urls.first { $0.request == url.request && ($0.request != nil || $0.url == url.url) }
    }

    /// Returns what was different then, apart from the arms themselves.
    func warnings(on result: ExperimentResult) -> [String] {
        var changes: [(String, String, String)] = []
        for (name, value) in result.environment where !["date", "netlayer"].contains(name) {
            changes.append((name, file.environment[name] ?? "unknown", value))
        }
        for arm in result.arms {
            guard let before = file.arms.first(where: { $0.name == arm.name }) else { continue }
            changes.append((arm.name, before.library, arm.library))
            let options = before.arm.flatMap { try? ArmSpecification($0) }?.origin ?? before.arm ?? "unknown"
            changes.append(("the options of \(arm.name)", options, arm.specification.origin))
        }
        func load(_ concurrency: Int, _ rate: Double?) -> String {
            rate.map { "\($0) requests a second" } ?? "\(concurrency) requests at once"
        }
        changes.append(
            (
                "load", load(file.design.concurrency, file.design.rate),
                load(result.design.concurrency, result.design.rate)
            ))
        func warmUp(_ requests: Int?) -> String { requests.map { "\($0) requests" } ?? "unknown" }
        changes.append(("warm-up", warmUp(file.design.warmUp), warmUp(result.design.warmUp)))
        return changes.filter { $0.1 != $0.2 }.map { "the baseline differs in \($0.0): '\($0.1)' then, '\($0.2)' now" }
            + result.urls.indices.flatMap { blocks(of: $0, in: result) } + missing(of: result)
    }

    /// Returns a warning for each arm whose blocks had another size then.
    private func blocks(of index: Int, in result: ExperimentResult) -> [String] {
        guard let before = target(of: result.urls[index]) else { return [] }
        return result.arms.compactMap { arm in
            let then = Self.size(of: before.arms.first { $0.name == arm.name }?.blocks ?? [])
            let now = Self.size(of: arm.figures[index].blocks)
            guard !Self.areAlike(then, now) else { return nil }
            return "the baseline differs in the blocks of \(arm.name): '\(then) requests' then, '\(now) requests' now"
        }
    }

    /// The factor by which blocks may differ in their size.
    private static let likeness = 1.5
}
