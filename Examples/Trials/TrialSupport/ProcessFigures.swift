import Foundation

/// The kernel's figures about a process.
public struct ProcessFigures: Sendable {
    /// The number of open descriptors.
    public var descriptors: Int
    /// The number of threads.
    public var threads: Int
    /// The resident memory, in KiB.
    public var residentKilobytes: Int
    /// The CPU time in user and kernel mode, in milliseconds.
    public var cpuMilliseconds: Int

    /// The figures of this process.
    public static var now: ProcessFigures { of("self") }

    /// The peak resident memory of this process, in KiB.
    public static var peakKilobytes: Int { number("VmHWM", in: text("/proc/self/status")) }

    /// The number of runnable processes for each core of the machine, on average over the last minute.
    public static var loadPerCore: Double {
        let load = text("/proc/loadavg").split(separator: " ").first.flatMap { Double($0) } ?? 0
        return load / Double(max(1, ProcessInfo.processInfo.activeProcessorCount))
    }

    /// Returns the figures of a process with the same user, by its process ID.
    public static func of(_ process: String) -> ProcessFigures {
        let status = text("/proc/\(process)/status")
        // Fields 14 and 15, counted from the end of the name in parentheses, in hundredths of a second.
        let fields = text("/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        let ticks = fields.count > 12 ? (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0) : 0
        return ProcessFigures(
            descriptors: (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count) ?? 0,
            threads: number("Threads", in: status),
            residentKilobytes: number("VmRSS", in: status),
            cpuMilliseconds: ticks * 10
        )
    }

    private static func number(_ name: String, in status: String) -> Int {
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// Returns the content of a file in /proc, which has no size of its own.
    private static func text(_ path: String) -> String {
        guard let handle = FileHandle(forReadingAtPath: path) else { return "" }
        defer { try? handle.close() }
        return String(decoding: (try? handle.readToEnd()) ?? Data(), as: UTF8.self)
    }
}
