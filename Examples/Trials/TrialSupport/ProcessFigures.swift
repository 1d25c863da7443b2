import Foundation

/// What the kernel says of a process.
public struct ProcessFigures: Sendable {
    /// Open descriptors.
    public var descriptors: Int
    /// Threads.
    public var threads: Int
    /// Resident memory.
    public var residentKilobytes: Int
    /// CPU time spent, in user and kernel mode, in milliseconds.
    public var cpuMilliseconds: Int

    /// The figures of this process.
    public static var now: ProcessFigures { of("self") }

    /// The figures of a process of ours, by its number.
    public static func of(_ process: String) -> ProcessFigures {
        let status = text("/proc/\(process)/status")
        func number(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
        }
        // Fields 14 and 15, counted from behind the name in parentheses, in hundredths of a second.
        let fields = text("/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        let ticks = fields.count > 12 ? (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0) : 0
        return ProcessFigures(
            descriptors: (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count) ?? 0,
            threads: number("Threads"),
            residentKilobytes: number("VmRSS"),
            cpuMilliseconds: ticks * 10
        )
    }

    /// A file of /proc, which has no size of its own.
    private static func text(_ path: String) -> String {
        guard let handle = FileHandle(forReadingAtPath: path) else { return "" }
        defer { try? handle.close() }
        return String(decoding: (try? handle.readToEnd()) ?? Data(), as: UTF8.self)
    }
}
