import Foundation
import NetworkCore
import Synchronization

/// The kernel's table of TCP connections, read as text (`proc(5)`, `/proc/[pid]/net/tcp`).
///
/// URLSession does not report when a connection is made. Waiting for the response instead would fail every slow
/// response with a connect timeout, so the table decides when the time is up.
struct ConnectionTable {
    /// A connection of any process in the network namespace.
    struct Entry: Equatable {
        /// The peer's address, as the table writes it.
        var remoteAddress: String
        var remotePort: Int
        /// The connection's state: `01` is established, `02` waits for the peer.
        var state: String
        var inode: String
    }

    /// By remote port.
    var entries: [Int: [Entry]]

    /// Parses a table. Skips lines that are not connections, the heading among them, and the closed ones, which no
    /// process owns: a busy machine has tens of thousands.
    init(parsing text: String) {
        let entries = text.split(separator: "\n").compactMap { line -> Entry? in
            let columns = line.split(separator: " ", omittingEmptySubsequences: true)
            guard columns.count > 9, columns[9] != "0" else { return nil }
            let remote = columns[2].split(separator: ":")
            guard remote.count == 2, let port = Int(remote[1], radix: 16) else { return nil }
            return Entry(
                remoteAddress: String(remote[0]),
                remotePort: port,
                state: String(columns[3]),
                inode: String(columns[9])
            )
        }
        self.entries = Dictionary(grouping: entries, by: \.remotePort)
    }

    /// Returns whether one of these inodes is a connection to the URL's port, and to its address as far as the URL has
    /// one.
    ///
    /// With a known address, a connection that is still being made decides: it is more likely the exchange's own than
    /// the existing ones, which may belong to other exchanges. Without an address, such a connection may lead to
    /// another host altogether.
    func hasConnection(to url: RequestURL, among inodes: Set<String>) -> Bool {
        let addresses = Self.addresses(of: url)
        let ours = (entries[url.effectivePort] ?? []).filter { entry in
            inodes.contains(entry.inode) && addresses?.contains(entry.remoteAddress) ?? true
        }
        if addresses != nil, ours.contains(where: { $0.state == "02" }) { return false }
        return ours.contains { $0.state == "01" }
    }

    /// Returns the addresses that the URL gives without a name lookup, as the table writes them: each 32 bits in the
    /// machine's byte order.
    private static func addresses(of url: RequestURL) -> [String]? {
        if url.host == "localhost" { return ["0100007F", "00000000000000000000000001000000"] }
        let octets = url.host.split(separator: ".").compactMap { UInt8($0) }
        guard octets.count == 4 else { return nil }
        #if _endian(little)
        let ordered = octets.reversed()
        #else
        let ordered = octets
        #endif
        return [ordered.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()]
    }
}

extension ConnectionTable {
    /// Returns whether this process has a connection to the URL's destination; `nil` if that can't be known: the table
    /// is missing here, or a proxy may be on the way.
    /// - Parameter due: The time as of which it is asked. A thousand requests may be due at once, and share a reading
    ///   of that time or later: each one takes as long as there are connections and descriptors.
    static func hasConnection(to url: RequestURL, at due: ContinuousClock.Instant) -> Bool? {
        guard !ProxyEnvironment.mayApply else { return nil }
        return Sockets.read(at: due)?.hasConnection(to: url)
    }

    /// The connections of this process at a moment.
    private struct Sockets {
        private let table: ConnectionTable
        private let inodes: Set<String>
        private let time: ContinuousClock.Instant

        private static let last = Guarded<Sockets?>(nil)

        /// Returns those of a time or later; `nil` if the system has no table.
        static func read(at due: ContinuousClock.Instant) -> Sockets? {
            last.withLock { last in
                if let last, last.time >= due { return last }
                last = Sockets()
                return last
            }
        }

        private init?() {
            time = .now
            let texts = ["/proc/self/net/tcp", "/proc/self/net/tcp6"].compactMap(text)
            guard !texts.isEmpty, let inodes = socketInodes() else { return nil }
            table = ConnectionTable(parsing: texts.joined(separator: "\n"))
            self.inodes = inodes
        }

        func hasConnection(to url: RequestURL) -> Bool { table.hasConnection(to: url, among: inodes) }
    }

    /// Returns the whole file. Foundation's simpler ways to read a file stop after a page, since the kernel reports no
    /// length.
    private static func text(of path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.readToEnd() else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    private static func socketInodes() -> Set<String>? {
        let folder = "/proc/self/fd"
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return nil }
        return Set(
            names.compactMap { name in
                // A descriptor may be closed during the search.
                guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"),
                    target.hasPrefix("socket:[")
                else { return nil }
                return String(target.dropFirst("socket:[".count).dropLast())
            }
        )
    }
}
