import CLibrary
import Foundation

@testable import CurlTransport

/// The process's own sockets, asked one by one: the kernel writes its table of connections page by page, and a row that
/// moves meanwhile is there twice.
enum OwnSockets {
    /// Returns the process's open descriptors.
    static func descriptors() throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
    }

    /// Returns the name of what a descriptor stands for, such as `socket:[1234]`.
    static func link(of descriptor: Int32) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    }

    /// Returns the descriptors that are connected to some ports, those whose peer has closed them included.
    static func connected(to ports: Set<Int>) throws -> [Int32] {
        try descriptors().filter { SocketName.remote(of: $0).map { ports.contains($0.port) } ?? false }
    }

    /// Returns what getsockopt(2) says of an option with a number.
    static func option(_ option: Int32, level: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var count = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, level, option, &value, &count) == 0 ? value : nil
    }
}

/// The kernel's figures about this process.
struct ProcessFigures {
    var descriptors: Int
    var threads: Int
    var residentKilobytes: Int

    static var now: ProcessFigures {
        // A file in /proc has no size.
        let bytes = try? FileHandle(forReadingAtPath: "/proc/self/status")?.readToEnd()
        let status = String(decoding: bytes ?? Data(), as: UTF8.self)
        func number(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
        }
        return ProcessFigures(
            descriptors: (try? OwnSockets.descriptors().count) ?? 0, threads: number("Threads"),
            residentKilobytes: number("VmRSS"))
    }
}
