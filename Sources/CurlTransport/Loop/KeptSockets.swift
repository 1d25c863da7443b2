import NetworkCore

/// The sockets of connections by their local end, which is all that libcurl reports of the connection that a request is
/// about to use.
///
/// Two connections to different addresses may have the same local port; their other ends tell them apart. All
/// connections to one Unix socket have the same place: the request may use any of them, and what holds for one holds
/// for all.
struct KeptSockets {
    /// The local end of a connection, as CURLOPT_PREREQFUNCTION reports it.
    enum Place: Hashable {
        case port(Int)
        case unix(TransportOptions.Connection.UnixSocket)

        /// The local port; `nil` for a Unix socket, which has none.
        var port: Int? { if case .port(let port) = self { port } else { nil } }
    }

    /// A connection before its next request.
    struct Kept: Equatable {
        let descriptor: Int32
        /// Whether the connection has carried a request.
        var hasServed: Bool
        /// Whether a response over the connection was HTTP/1. Where HTTP/2 may be negotiated, only the connection shows
        /// it.
        var isHTTP1 = false
        /// Whether a frame of HTTP/2 could not be read, so that none after it can.
        var isBroken = false
    }

    private var kept: [Place: [Kept]] = [:]
    private var places: [Int32: Place] = [:]

    /// Records a new connection at a place.
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

    /// Records that a request is about to use a connection at a place, unless none goes out (`serves`).
    /// - Returns: The connections in their state until now; none for a connection that was made unseen.
    mutating func use(from place: Place, serves: Bool) -> [Kept] {
        guard let found = kept[place] else { return [] }
        if serves, !found.allSatisfy(\.hasServed) { mark(place, \.hasServed) }
        return found
    }

    /// Returns those of one place's connections that the request may use.
    static func those(of ends: ConnectionEnds, in kept: [Kept]) -> [Kept] {
        guard kept.count > 1 else { return kept }
        let exact = kept.filter { ends.areThose(of: $0.descriptor) }
        return exact.isEmpty ? kept : exact
    }

    /// Records that an HTTP/1 response has arrived over the connection at a place.
    mutating func speaksHTTP1(from place: Place) { mark(place, \.isHTTP1) }

    /// Records that the connection at a place can't be read any more.
    mutating func broke(from place: Place) { mark(place, \.isBroken) }

    private mutating func mark(_ place: Place, _ property: WritableKeyPath<Kept, Bool>) {
        for index in kept[place]?.indices ?? 0..<0 { kept[place]?[index][keyPath: property] = true }
    }
}

extension Transfer {
    /// Returns the place of a connection that the transfer uses, by libcurl's port of our end.
    func place(ofConnectionFrom localPort: Int) -> KeptSockets.Place {
        guard request.options.hasRareOptions, let socket = request.options.connection.unixSocket else {
            return .port(localPort)
        }
        return .unix(socket)
    }
}
