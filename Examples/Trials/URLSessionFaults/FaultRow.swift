import Foundation
import NetworkTesting

/// One thing that URLSession does on Linux and should not: a server, a client, and how to tell that all went well.
struct FaultRow: Sendable {
    /// Its name on the command line.
    let id: String
    /// For readers.
    let what: String
    /// Makes the servers; the client is told the ports of all, in this order.
    let servers: @Sendable () throws -> [ScriptedServer]
    /// What the child does; its result is printed.
    let probe: @Sendable (Probe) async throws -> String
    /// What the servers saw, once the child has ended.
    let serverSaw: @Sendable ([ScriptedServer]) -> String
    /// Whether that is right.
    let isRight: @Sendable (Report) -> Bool
    /// The dispatchers that are known to do it wrong: excluded by name in the documentation.
    let excluded: Set<Subject>
    /// After that many seconds the child hangs.
    let patience: Double

    init(
        _ id: String,
        _ what: String,
        servers: @escaping @Sendable () throws -> [ScriptedServer],
        excluded: Set<Subject> = [],
        patience: Double = 5,
        serverSaw: @escaping @Sendable ([ScriptedServer]) -> String = { _ in "" },
        isRight: @escaping @Sendable (Report) -> Bool,
        probe: @escaping @Sendable (Probe) async throws -> String
    ) {
        self.id = id
        self.what = what
        self.servers = servers
        self.excluded = excluded
        self.patience = patience
        self.serverSaw = serverSaw
        self.isRight = isRight
        self.probe = probe
    }

    /// A row with one server that repeats its last script.
    init(
        _ id: String,
        _ what: String,
        _ scripts: Script...,
        excluded: Set<Subject> = [],
        patience: Double = 5,
        serverSaw: @escaping @Sendable ([ScriptedServer]) -> String = { _ in "" },
        isRight: @escaping @Sendable (Report) -> Bool,
        probe: @escaping @Sendable (Probe) async throws -> String = { try await $0.send(Ask()).text }
    ) {
        self.init(
            id,
            what,
            servers: { [try ScriptedServer(scripts: scripts)] },
            excluded: excluded,
            patience: patience,
            serverSaw: serverSaw,
            isRight: isRight,
            probe: probe
        )
    }
}

/// What came of a row.
struct Report: Sendable {
    enum End: Sendable, Equatable {
        case answered
        case signal(Int32)
        case hung
        case other(Int32)
    }

    let end: End
    /// What the child said.
    let said: String
    /// What the servers saw.
    let server: String
    /// The CPU time that the child took, in milliseconds, and for how long it ran, in seconds.
    let cpuMilliseconds: Int
    let seconds: Double

    var text: String {
        switch end {
        case .answered: server.isEmpty ? said : "\(said); the server saw \(server)"
        case .signal(let number): "the process ends (signal \(number))"
        case .other(let status): "the process ends (status \(status))"
        case .hung:
            "no answer in \(Int(seconds)) s" + (server.isEmpty ? "" : "; the server saw \(server)")
                + (Double(cpuMilliseconds) > seconds * 500 ? "; a core is busy" : "")
        }
    }

    /// Refused by us, before anything was sent.
    var isRefused: Bool { end == .answered && said.contains("error unsupported") }
}

/// Whom a row is tried on.
enum Subject: String, CaseIterable, Sendable {
    case raw, urlsession, curl

    var title: String {
        switch self {
        case .raw: "URLSession as it is"
        case .urlsession: "URLSessionNetworkDispatcher"
        case .curl: "CurlNetworkDispatcher"
        }
    }
}
