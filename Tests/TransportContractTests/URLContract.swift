import Foundation
import FoundationNetworking
import NetworkLayer
import NetworkLayerTutorials
import NetworkTesting
import TestSupport
import Testing

/// Parts of a URL other than ASCII letters: credentials, and international names.
@Suite(.patience(minutes: 1))
struct URLContract {
    /// Sends a request to a server that redirects to another one.
    private func redirect(
        _ transport: ContractTransport, to location: (String) -> String
    ) async throws -> (response: NetworkResponse<Data>, last: ScriptedServer) {
        try await withServer(.ok()) { last in
            let fields = [("Location", location(last.url("/next")))]
            return try await withServer(.response(302, fields: fields)) { server in
                let client = transport.client.with { $0.validation = .any }
                return (try await client.send(TransportRequest(to: server.url()), as: .data), last)
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `user and password are Basic, and nowhere else`(transport: ContractTransport) async throws {
        try await withServer(.ok()) { server in
            let base = server.url("/").replacing("://", with: "://us%20er:p%40ss@")
            let foundations = try #require(URL(string: base + "x"))
            for request in [
                RequestData(path: base + "x"), RequestData(path: "x", baseURL: base), URLRequest(url: foundations),
                URLRequestBuilder(with: try #require(URL(string: base)), path: "x"),
            ] as [any RequestConvertible] {
                _ = try await transport.client.send(request.data, as: .data)
            }
            _ = try await transport.client.send(TransportRequest(to: base + "x"), as: .data)
            let fields = server.requests.map { $0.values(of: "Authorization") }
            #expect(fields == Array(repeating: ["Basic dXMgZXI6cEBzcw=="], count: 5))
            #expect(server.requests.allSatisfy { $0.target == "/x" })
            #expect(server.requests.allSatisfy { $0.values(of: "Host").allSatisfy { !$0.contains("@") } })
        }
    }

    @Test(arguments: ContractTransport.all, [true, false])
    func `user and password stay with their origin`(transport: ContractTransport, isKept: Bool) async throws {
        try await withServer(.ok()) { last in
            let redirect = Script.Step.respond(302, fields: [("Location", isKept ? "/next" : last.url("/next"))])
            try await withServer([.read, redirect, .forEachRequest([.ok()])], .ok()) { server in
                let url = server.url("/").replacing("://", with: "://u:p@")
                let response = try await transport.client.send(TransportRequest(to: url), as: .data)
                #expect(response.status.code == 200)
                let all = (server.requests + last.requests).map { $0.values(of: "Authorization") }
                #expect(all == [["Basic dTpw"], isKept ? ["Basic dTpw"] : []])
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a Location with user and password is handed back`(transport: ContractTransport) async throws {
        let (response, last) = try await redirect(transport) { $0.replacing("://", with: "://u:p@") }
        #expect(response.status.code == 302)
        #expect(last.connectionCount == 0)
    }

    @Test(arguments: ContractTransport.all)
    func `an international name is asked by its ASCII form`(transport: ContractTransport) async throws {
        try await withServer(.ok()) { server in
            _ = try await transport.client.send(
                RequestData(path: "http://bücher.localhost:\(server.port)/x"), as: .data)
            #expect(server.requests.map { $0.values(of: "Host") } == [["xn--bcher-kva.localhost:\(server.port)"]])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a Location with an international name is followed`(transport: ContractTransport) async throws {
        let (response, last) = try await redirect(transport) {
            $0.replacing("127.0.0.1", with: "bücher.localhost").replacing("next", with: "né")
        }
        #expect(
            response.redirects.map(\.to.absoluteString) == ["http://xn--bcher-kva.localhost:\(last.port)/n%C3%A9"])
        #expect(last.requests.map(\.target) == ["/n%C3%A9"])
    }
}
