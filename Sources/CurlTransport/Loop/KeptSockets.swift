import NetworkCore

/// The sockets of connections, by our end: libcurl names the connection that a request is to go over by that alone.
///
/// Two connections to different hosts may have one port of ours, and all of a Unix socket's have the same: then the
/// request may go over any of them, and what holds for one holds for all.
struct KeptSockets {
    /// Our end of a connection, as CURLOPT_PREREQFUNCTION reports it.
    enum Place: Hashable {
        case port(Int)
        case unix(TransportOptions.Connection.UnixSocket)

        /// Our port; `nil` for a Unix socket, which has none.
        var port: Int? { if case .port(let port) = self { port } else { nil } }
    }

    /// A connection before its next request.
    struct Kept: Equatable {
        let descriptor: Int32
        /// Whether it has carried a request.
        var hasServed: Bool
        /// Whether a response over it was one of HTTP/1: where HTTP/2 may be spoken, the connection tells.
        var isHTTP1 = false
        /// Whether libcurl would treat the next request as it did the last.
        var isSpoiled = false
    }

    private var kept: [Place: [Kept]] = [:]
    private var places: [Int32: Place] = [:]

    /// A connection was made there.
    /// - Parameter serves: Whether a request goes out over it.
    mutating func made(_ descriptor: Int32, from place: Place, serves: Bool) {
        closed(descriptor)
        kept[place, default: []].append(Kept(descriptor: descriptor, hasServed: serves))
        places[descriptor] = place
    }

    mutating func closed(_ descriptor: Int32) {
        guard let place = places.removeValue(forKey: descriptor) else { return }
        kept[place]?.removeAll { $0.descriptor == descriptor }
        if kept[place]?.isEmpty == true { kept[place] = nil }
    }

    /// A request is to go over a connection from there, unless none goes out (`serves`).
    /// - Returns: What they were until now; none for one that was made unseen.
    mutating func use(from place: Place, serves: Bool) -> [Kept] {
        guard let found = kept[place] else { return [] }
        if serves, !found.allSatisfy(\.hasServed) { mark(place, \.hasServed) }
        return found
    }

    /// A response of HTTP/1 has come over the connection from there.
    mutating func speaksHTTP1(from place: Place) { mark(place, \.isHTTP1) }

    /// The connection from there may serve no other request.
    mutating func spoil(from place: Place) { mark(place, \.isSpoiled) }

    private mutating func mark(_ place: Place, _ property: WritableKeyPath<Kept, Bool>) {
        for index in kept[place]?.indices ?? 0..<0 { kept[place]?[index][keyPath: property] = true }
    }
}
