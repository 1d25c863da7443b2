import NetworkCore
import Synchronization

/// The plans of a dispatcher.
final class Plans: Sendable {
    /// A plan, and the loop of its requests.
    struct Entry: Sendable {
        let plan: Plan
        let loop: CurlLoop
    }

    private struct Index: Hashable, Sendable {
        let groups: ObjectIdentifier?
        let version: TransportOptions.HTTPVersion
        let connectTimeout: Duration?
        let logs: Bool
        let isSecure: Bool
        let host: String
        let port: Int?

        init(_ request: TransportRequest) {
            let (options, url) = (request.options, request.url)
            (groups, version) = (options.groupsIdentity, options.httpVersion)
            (connectTimeout, logs) = (options.connectTimeout, options.wireLog != nil)
            (isSecure, host, port) = (url.scheme == "https", url.host, url.port)
        }
    }

    private struct State: Sendable {
        var recent: (index: Index, entry: Entry)?
        var known: [Index: Entry] = [:]
        /// The groups of their options.
        var groups: Set<ObjectIdentifier> = []
    }

    private let state = Guarded(State())
    /// The number of plans to remember, and that of their groups, which may have authorities of hundreds of kilobytes;
    /// one more, and all are made anew.
    private static let (maximum, maximumGroups) = (1_024, 128)

    /// Forgets all plans, and with them their options.
    func forget() {
        let old = state.withLock { state in
            defer { state = State() }
            return state
        }
        _ = old
    }

    /// Returns the request's plan, which is made if there is none.
    func plan(for request: TransportRequest, make: () throws -> Entry) throws -> Entry {
        let index = Index(request)
        let known: Entry? = state.withLock { state in
            if let recent = state.recent, recent.index == index { return recent.entry }
            guard let entry = state.known[index] else { return nil }
            state.recent = (index, entry)
            return entry
        }
        if let known { return known }
        let entry = try make()
        let old = state.withLock { state in
            let isFull = state.known.count >= Self.maximum || state.groups.count >= Self.maximumGroups
            let old = isFull ? state.known : [:]
            if isFull { state.groups = [] }
            if let groups = index.groups { state.groups.insert(groups) }
            if !old.isEmpty { state.known = [:] }
            state.known[index] = entry
            state.recent = (index, entry)
            return old
        }
        _ = old
        return entry
    }
}
