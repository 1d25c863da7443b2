import TrialSupport

/// The limits of the growth of the process between the warm-up and the end.
struct Bounds {
    let descriptors: Int
    let threads: Int
    let kilobytes: Int

    init(descriptors: Int, threads: Int, kilobytes: Int) {
        self.descriptors = descriptors
        self.threads = threads
        self.kilobytes = kilobytes
    }

    /// A curl dispatcher has shut down by then and released everything. URLSession keeps connections and can't shut
    /// down.
    init(client: Faults.Client) {
        switch client {
        case .curl: self.init(descriptors: 0, threads: 4, kilobytes: 24 * 1024)
        case .urlsession: self.init(descriptors: 64, threads: 16, kilobytes: 32 * 1024)
        }
    }

    func table(_ start: ProcessFigures, _ warm: ProcessFigures, _ end: ProcessFigures) -> String {
        var table = TextTable("", "start", "after the warm-up", "end", "growth limit")
        func add(_ name: String, _ value: (ProcessFigures) -> Int, _ bound: Int) {
            table.add(name, "\(value(start))", "\(value(warm))", "\(value(end))", "\(bound)")
        }
        add("descriptors", \.descriptors, descriptors)
        add("threads", \.threads, threads)
        add("resident memory, KiB", \.residentKilobytes, kilobytes)
        return table.text
    }

    func faults(_ warm: ProcessFigures, _ end: ProcessFigures) -> [String] {
        var faults: [String] = []
        func check(_ name: String, _ value: (ProcessFigures) -> Int, _ bound: Int) {
            let growth = value(end) - value(warm)
            if growth > bound { faults.append("\(name) grew by \(growth); the limit is \(bound)") }
        }
        check("descriptors", \.descriptors, descriptors)
        check("threads", \.threads, threads)
        check("resident KiB", \.residentKilobytes, kilobytes)
        return faults
    }
}

/// Waits for resources that are released with a delay, such as ending threads and closing sockets.
enum Settled {
    /// Returns the figures as soon as they satisfy a condition, but after thirty seconds at the latest.
    static func figures(_ isSettled: (ProcessFigures) -> Bool) async -> ProcessFigures {
        var figures = ProcessFigures.now
        for round in 0..<300 where round < 10 || !isSettled(figures) {
            try? await Task.sleep(for: .milliseconds(100))
            figures = ProcessFigures.now
        }
        return figures
    }
}
