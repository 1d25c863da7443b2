import Foundation
import NetworkCore

extension DemoServer {
    /// Reads a request and responds.
    /// - Returns: Whether the connection goes on.
    static func exchange(on connection: ScriptedConnection, _ reader: inout RequestReader, isLogging: Bool) -> Bool {
        guard let head = reader.readHead(), var request = DemoRequest(head: head) else { return false }
        let matches = routes.compactMap { route in route.match(request.path).map { (route: route, value: $0) } }
        let match = matches.first { $0.route.accepts(request.method) }
        request.value = match?.value ?? ""
        if request.expectsContinue {
            guard connection.socket.send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)) else { return false }
        }
        let bodyEnd = reader.readBody(of: head) { request.add($0, for: match?.route.body) }
        guard bodyEnd == .complete else { return false }
        let response = response(to: request, match?.route, others: matches.map(\.route))
        // A path may hold what a terminal would take for commands.
        if isLogging { print(Redaction.visible("DemoServer: \(request.method) \(request.path): \(response.status)")) }
        if response.delay > 0 { connection.wait(for: .milliseconds(response.delay)) }
        return response.send(to: request, over: connection.socket) && request.keepsConnection
    }

    private static func response(to request: DemoRequest, _ route: DemoRoute?, others: [DemoRoute]) -> DemoResponse {
        do {
            if let route { return try route.response(request) }
            guard let other = others.first else {
                throw DemoRefusal(status: 404, message: "no route for \(request.path)")
            }
            throw DemoRefusal(status: 405, message: "\(other.path) takes \(other.methods.joined(separator: ", "))")
        } catch {
            let refusal = error as? DemoRefusal ?? DemoRefusal(status: 500, message: "\(error)")
            let message = refusal.message.filter { $0 != "\"" && $0 != "\\" }
            return DemoResponse(
                status: refusal.status, fields: [("Content-Type", "application/json")],
                body: .data(Data("{\"error\":\"\(message)\"}".utf8)))
        }
    }
}
