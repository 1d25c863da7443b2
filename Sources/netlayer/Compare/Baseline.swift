import Foundation
import NetworkComparison
import NetworkLayer

/// An earlier comparison, read from the JSON that it wrote.
struct Baseline: Sendable {
    private struct File: Decodable {
        struct Arm: Decodable {
            var name: String
            var library: String
        }
        struct Design: Decodable {
            var concurrency: Int
            var rate: Double?
        }
        struct Figures: Decodable {
            struct Block: Decodable {
                var latenciesMs: [Double]
                var seconds: Double
                var cpuMicroseconds: Double
                var requests: Int
                var process: Int
            }
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
                    && (0...1_000_000_000).contains(block.requests) && block.latenciesMs.allSatisfy(isPlausible)
            }
    }

    /// The largest file that is read, in bytes.
    private static let maximumBytes = 1 << 30

    private let file: File

    /// Reads a file that `--save` or `--json` has written.
    /// - Throws: ``ToolFailure`` for a file that can't be read, or is none of these.
    init(path: String) async throws {
        let bytes = try await ByteSource(path: path).readAll(limit: Self.maximumBytes)
        do {
            file = try JSONDecoder().decode(File.self, from: Data(bytes))
            guard Self.isPlausible(file) else { throw ToolFailure(.file, "") }
        } catch {
            throw ToolFailure(.file, "\(path) is no result of a comparison (--save, --json)")
        }
    }

    /// Returns the verdicts on how each arm has changed since then, where both have it.
    func verdicts(on result: ExperimentResult) -> [Verdict] {
        var generator = SeededGenerator(seed: result.design.seed)
        var pairs: [(url: ExperimentResult.URLResult, name: String, now: [Block], before: [Block])] = []
        for (index, url) in result.urls.enumerated() {
            for arm in result.arms {
                guard let before = target(of: url)?.arms.first(where: { $0.name == arm.name }) else { continue }
                let blocks = before.blocks.map { block in
                    Block(
                        latencies: block.latenciesMs, seconds: block.seconds, cpuMicroseconds: block.cpuMicroseconds,
                        requests: block.requests, process: block.process)
                }
                pairs.append((url, arm.name, arm.figures[index].blocks, blocks))
            }
        }
        return pairs.flatMap { url, name, now, before in
            Verdicts.changes(
                url: url.url, arm: name, now: now, before: before, noise: url.noise, shares: pairs.count,
                metrics: result.metrics, verb: result.verb, using: &generator)
        }
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
        }
        func load(_ concurrency: Int, _ rate: Double?) -> String {
            rate.map { "\($0) requests a second" } ?? "\(concurrency) requests at once"
        }
        changes.append(
            (
                "load", load(file.design.concurrency, file.design.rate),
                load(result.design.concurrency, result.design.rate)
            ))
        return changes.filter { $0.1 != $0.2 }.map { "the baseline differs in \($0.0): '\($0.1)' then, '\($0.2)' now" }
            + result.urls.indices.flatMap { blocks(of: $0, in: result) }
            + result.urls.filter { target(of: $0) == nil }.map { "the baseline has no such request: \($0.url)" }
    }

    /// Returns a warning for each arm whose blocks had another size then: a block begins with idle workers and cold
    /// caches, so that a request of a small one takes longer.
    private func blocks(of index: Int, in result: ExperimentResult) -> [String] {
        guard let before = target(of: result.urls[index]) else { return [] }
        func median(_ sizes: [Int]) -> Int { sizes.isEmpty ? 0 : sizes.sorted()[sizes.count / 2] }
        return result.arms.compactMap { arm in
            let then = median(before.arms.first { $0.name == arm.name }?.blocks.map(\.requests) ?? [])
            let now = median(arm.figures[index].blocks.map(\.requests))
            guard then > 0, now > 0, Double(max(then, now)) > Self.likeness * Double(min(then, now)) else { return nil }
            return "the baseline differs in the blocks of \(arm.name): '\(then) requests' then, '\(now) requests' now"
        }
    }

    /// The factor by which blocks may differ in their size.
    private static let likeness = 1.5
}
