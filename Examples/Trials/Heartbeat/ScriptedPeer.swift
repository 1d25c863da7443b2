import Foundation
import NetworkTesting

/// The servers of the scenarios.
enum ScriptedPeer {
    static func answering(_ script: Script) throws -> ScriptedServer { try ScriptedServer(script) }

    /// Starts a server that reads requests and never responds.
    static func stalling() throws -> ScriptedServer { try ScriptedServer(.stalled) }

    /// Starts a server that sends the same bytes to every request and closes.
    static func sending(_ bytes: Data) throws -> ScriptedServer { try ScriptedServer(.raw(bytes)) }

    static func sending(_ text: String) throws -> ScriptedServer { try sending(Data(text.utf8)) }
}
