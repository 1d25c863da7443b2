/// The sockets of connections, by the port that they were made from: by that libcurl says which one a request is to go
/// over.
struct KeptSockets {
    /// A connection before its next request.
    struct Kept: Equatable {
        let descriptor: Int32
        /// Whether it has carried a request.
        var hasServed: Bool
        /// Whether libcurl would treat the next request as it did the last.
        var isSpoiled = false
    }

    private var kept: [Int: Kept] = [:]
    private var ports: [Int32: Int] = [:]

    /// A connection was made from a port.
    /// - Parameter serves: Whether a request goes out over it.
    mutating func made(_ descriptor: Int32, from port: Int, serves: Bool) {
        kept[port] = Kept(descriptor: descriptor, hasServed: serves)
        ports[descriptor] = port
    }

    mutating func closed(_ descriptor: Int32) {
        guard let port = ports.removeValue(forKey: descriptor), kept[port]?.descriptor == descriptor else { return }
        kept[port] = nil
    }

    /// A request is to go over the connection from a port, unless none goes out (`serves`).
    /// - Returns: What it was until now; `nil` for one that was made unseen.
    mutating func use(from port: Int, serves: Bool) -> Kept? {
        defer { if serves { kept[port]?.hasServed = true } }
        return kept[port]
    }

    /// The connection from a port may serve no other request.
    mutating func spoil(from port: Int) { kept[port]?.isSpoiled = true }
}
