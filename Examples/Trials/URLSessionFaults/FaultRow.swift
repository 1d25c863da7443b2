import Foundation
import NetworkTesting

/// One fault of URLSession on Linux: a server, a client, and the condition for a correct outcome.
struct FaultRow: Sendable {
    /// The name on the command line.
    let id: String
    /// The description for readers.
    let what: String
    /// Starts the servers; the client receives their ports in this order.
    let servers: @Sendable () throws -> [ScriptedServer]
    /// The work of the child process, which prints the result.
    let probe: @Sendable (Probe) async throws -> String
    /// Returns what the servers received, once the child process has ended.
    let serverSaw: @Sendable ([ScriptedServer]) -> String
    /// Returns whether the outcome is correct.
    let isRight: @Sendable (Report) -> Bool
    /// The dispatchers with a known fault, which the documentation excludes by name.
    let excluded: Set<Subject>
    /// The seconds after which the child process counts as hanging.
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

    /// Creates a row with one server, which repeats its last script.
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

/// The outcome of a row.
struct Report: Sendable {
    enum End: Sendable, Equatable {
        case answered
        case signal(Int32)
        case hung
        case other(Int32)
    }

    let end: End
    /// The output of the child process.
    let said: String
    /// What the servers received.
    let server: String
    /// The CPU time of the child process in milliseconds, and its running time in seconds.
    let cpuMilliseconds: Int
    let seconds: Double

    var text: String {
        switch end {
        case .answered: server.isEmpty ? said : "\(said); the server saw \(server)"
        case .signal(let number): "the process ends (signal \(number))"
        case .other(let status): "the process ends (status \(status))"
        case .hung:
            "no response in \(Int(seconds)) s" + (server.isEmpty ? "" : "; the server saw \(server)")
                + (Double(cpuMilliseconds) > seconds * 500 ? "; a core is busy" : "")
        }
    }

    /// Whether the library refused the request before sending anything.
    var isRefused: Bool { end == .answered && said.contains("error unsupported") }
}

/// The client that a row tests.
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
