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
