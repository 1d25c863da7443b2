import ArgumentParser
import Testing
import ToolSupport

@testable import netlayer

@Suite struct ExperimentScheduleTests {
    private static func design(_ words: String...) throws -> ExperimentDesign {
        try CompareCommand.parse(["http://h/"] + words).design(weights: [1])
    }

    /// Runs a comparison whose requests take some time each.
    /// - Parameters:
    ///   - pace: The seconds of one request over all arms; it takes 20 times as long before the first round.
    ///   - beginning: The seconds that each process takes before its first round.
    private static func run(
        _ design: ExperimentDesign, pace: Double, beginning: Double = 0
    ) -> (kinds: [BlockKind], sizes: [Int], seconds: Double) {
        var schedule = ExperimentSchedule(design)
        var (kinds, sizes, seconds) = ([BlockKind](), [Int](), 0.0)
        while let kind = schedule.next(after: .seconds(seconds)) {
            if case .timed = kind, kind != kinds.last { seconds += beginning }
            let latest = kinds.isEmpty ? pace * 20 : pace
            let size = design.blockSize(
                of: kinds.count, within: schedule.roundSeconds(after: .seconds(seconds)), at: latest)
            seconds += Double(size) * pace
            kinds.append(kind)
            sizes.append(size)
        }
        return (kinds, sizes, seconds)
    }

    private static func processes(_ kinds: [BlockKind]) -> [Int] {
        kinds.compactMap { if case .timed(let process) = $0 { process } else { nil } }
    }

    @Test func `by count, processes have equal shares of the timed rounds`() throws {
        let (kinds, sizes, _) = Self.run(try Self.design(), pace: 0.001)
        #expect(Self.processes(kinds) == (0..<10).flatMap { [$0, $0, $0] })
        #expect(kinds.count { $0 == .watched } == 15)
        #expect(sizes == Array(repeating: 20, count: 45))
    }

    /// Blocks of the largest `-n` would take hours; those of a short time are as small as the time.
    @Test(arguments: [0.000_1, 0.000_5, 0.01], [2.0, 30, 300])
    func `by time, all processes run and the time is kept`(pace: Double, time: Double) throws {
        let design = try Self.design("-n", "10000000", "--time", "\(time)")
        let (kinds, sizes, seconds) = Self.run(design, pace: pace, beginning: time / 100)
        // A request that takes a great part of the time leaves no more than a few of the smallest blocks.
        let isLong = pace * 16 * 45 > time / 2
        let processes = Set(Self.processes(kinds)).count
        #expect(isLong ? processes >= PairedComparison.minimumProcesses : processes == 10 && kinds.count == 45)
        #expect(kinds.count { $0 == .watched } > 0)
        #expect(seconds < time * 1.25)
        #expect(isLong || seconds > time * 0.9)
        #expect(sizes.allSatisfy { $0 >= 16 })
    }

    @Test func `rounds that are longer than a process's share of the time have a process each`() throws {
        let (kinds, _, seconds) = Self.run(try Self.design("--time", "10", "-c", "8"), pace: 0.04)
        #expect(Self.processes(kinds) == Array(0..<Self.processes(kinds).count))
        #expect(Self.processes(kinds).count >= PairedComparison.minimumProcesses)
        #expect(seconds < 12)
    }

    /// Without a warm-up the pace is that of one request, which does not wait for the rate.
    @Test func `blocks at a rate fit into the time too`() throws {
        let design = try Self.design("--time", "10", "--rate", "5", "--warm-up", "0")
        let size = design.blockSize(of: 0, within: 2, at: design.pace(0.000_1) + design.pace(0.3))
        #expect(size == 5)
        #expect(design.blockSize(of: 0, within: 0, at: 1) == 1)
    }

    @Test(arguments: [1, 44, 45, 100, 720, 900, 1000, 99_999])
    func `all rounds together have all requests`(_ number: Int) throws {
        let design = try Self.design("-n", "\(number)")
        let sizes = (0..<design.rounds).map { design.blockSize(of: $0, within: nil, at: 1) }
        #expect(sizes.reduce(0, +) == number && sizes.max() == design.blockSize)
        #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1)
    }

    @Test func `all warm-ups together have a part of the time`() throws {
        let design = try Self.design("--time", "30")
        #expect(design.warmUpSeconds(arms: 3).map { $0 * 30 } == 6)
        #expect(try Self.design().warmUpSeconds(arms: 3) == nil)
        #expect(try CompareCommand.parse(["http://h/", "--time", "3"]).design(weights: [1]).timeout == 3)
    }

    @Test func `the rate of an open load is no figure`() throws {
        #expect(try Self.design("--rate", "5").metrics == [.p50, .p95, .p99, .cpu, .cold, .connections, .attempts])
        #expect(throws: (any Error).self) {
            try CompareCommand.parse(["http://h/", "--rate", "5", "--fail-if", "rate < -5%"])
        }
    }

    /// A machine that stands still in between, and one that becomes faster.
    @Test func `no process's number is left out, whatever the rounds take`() throws {
        let design = try Self.design("--time", "10", "-n", "1000")
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<500 {
            var schedule = ExperimentSchedule(design)
            var (seconds, processes, wasWatched) = (0.0, [Int](), false)
            while let kind = schedule.next(after: .seconds(seconds)) {
                seconds += Bool.random(using: &generator) ? 0 : Double.random(in: 0...2, using: &generator)
                guard case .timed(let process) = kind else {
                    wasWatched = true
                    continue
                }
                #expect(!wasWatched && [processes.last ?? 0, (processes.last ?? -1) + 1].contains(process))
                processes.append(process)
            }
            #expect(processes.first == 0 && processes.count <= 30 && processes.last ?? 0 < 10)
        }
    }

    @Test func `each run of a program is a process, with a time too`() throws {
        let design = try CompareCommand.parse(["--exec", "true", "--time", "1"]).design(weights: [1])
        let (kinds, sizes, _) = Self.run(design, pace: 0.1)
        #expect(Self.processes(kinds) == Array(0..<kinds.count) && (10...11).contains(kinds.count))
        #expect(sizes.allSatisfy { $0 == 1 })
    }

    @Test func `timing may end before its rounds`() throws {
        var schedule = ExperimentSchedule(try Self.design())
        for _ in 0..<12 { #expect(schedule.next(after: .zero) != .watched) }
        schedule.endTiming()
        for _ in 0..<15 { #expect(schedule.next(after: .zero) == .watched) }
        #expect(schedule.next(after: .zero) == nil)
    }
}
