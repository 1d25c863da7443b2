import TrialSupport

/// How much the process may have grown between the warm-up and the end.
struct Bounds {
    let descriptors: Int
    let threads: Int
    let kilobytes: Int

    init(descriptors: Int, threads: Int, kilobytes: Int) {
        self.descriptors = descriptors
        self.threads = threads
        self.kilobytes = kilobytes
    }

    /// A curl dispatcher has ended by then with all it had. URLSession keeps its connections and has no end.
    init(client: Faults.Client) {
        switch client {
        case .curl: self.init(descriptors: 0, threads: 4, kilobytes: 24 * 1024)
        case .urlsession: self.init(descriptors: 64, threads: 16, kilobytes: 32 * 1024)
        }
    }

    func table(_ start: ProcessFigures, _ warm: ProcessFigures, _ end: ProcessFigures) -> String {
        var table = TextTable("", "start", "after the warm-up", "end", "may have grown by")
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
            if growth > bound { faults.append("\(name) grew by \(growth), and may grow by \(bound)") }
        }
        check("descriptors", \.descriptors, descriptors)
        check("threads", \.threads, threads)
        check("resident KiB", \.residentKilobytes, kilobytes)
        return faults
    }
}

/// What has ended goes a little later: threads on their way out, sockets that close.
enum Settled {
    /// The figures, once they satisfy, or after ten seconds.
    static func figures(_ isSettled: (ProcessFigures) -> Bool) async -> ProcessFigures {
        var figures = ProcessFigures.now
        for round in 0..<100 where round < 10 || !isSettled(figures) {
            try? await Task.sleep(for: .milliseconds(100))
            figures = ProcessFigures.now
        }
        return figures
    }
}
