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
    /// Returns a server that redirects to another one.
    private func servers(_ location: (String) -> String) throws -> (first: ScriptedServer, last: ScriptedServer) {
        let last = try ScriptedServer(.ok())
        return (try ScriptedServer(.response(302, fields: [("Location", location(last.url("/next")))])), last)
    }

    @Test(arguments: ContractTransport.all)
    func `user and password are Basic, and nowhere else`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        let base = server.url("/").replacing("://", with: "://us%20er:p%40ss@")
        let foundations = try #require(URL(string: base + "x"))
        for request in [
            RequestData(path: base + "x"), RequestData(path: "x", baseURL: base), URLRequest(url: foundations),
            URLRequestBuilder(with: try #require(URL(string: base)), path: "x"),
        ] as [any RequestConvertible] {
            _ = try await transport.client.send(request.data, as: .data)
        }
        _ = try await transport.client.send(TransportRequest(to: base + "x"), as: .stream).body.collect()
        let fields = server.requests.map { $0.values(of: "Authorization") }
        #expect(fields == Array(repeating: ["Basic dXMgZXI6cEBzcw=="], count: 5))
        #expect(server.requests.allSatisfy { $0.target == "/x" })
        #expect(server.requests.allSatisfy { $0.values(of: "Host").allSatisfy { !$0.contains("@") } })
    }

    @Test(arguments: ContractTransport.all)
    func `user and password stay with their origin`(transport: ContractTransport) async throws {
        for isKept in [true, false] {
            let last = try ScriptedServer(.ok())
            let location = isKept ? "/next" : last.url("/next")
            let head = Script.head(302, fields: [("Location", location), ("Content-Length", "0")])
            let end = Script.head(200, fields: [("Content-Length", "0")])
            let server = try ScriptedServer([.read, .send(head), .forEachRequest([.send(end)])], .ok())
            defer {
                server.stop()
                last.stop()
            }
            let url = server.url("/").replacing("://", with: "://u:p@")
            let response = try await transport.client.send(TransportRequest(to: url), as: .stream)
            _ = try await response.body.collect()
            #expect(response.status.code == 200)
            let all = (server.requests + last.requests).map { $0.values(of: "Authorization") }
            #expect(all == [["Basic dTpw"], isKept ? ["Basic dTpw"] : []])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a Location with user and password is handed back`(transport: ContractTransport) async throws {
        let (server, last) = try servers { $0.replacing("://", with: "://u:p@") }
        defer {
            server.stop()
            last.stop()
        }
        let response = try await transport.client.send(TransportRequest(to: server.url()), as: .stream)
        #expect(response.status.code == 302)
        #expect(last.connectionCount == 0)
    }

    @Test(arguments: ContractTransport.all)
    func `an international name is asked by its ASCII form`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        let port = try RequestURL(server.url()).effectivePort
        _ = try await transport.client.send(RequestData(path: "http://bücher.localhost:\(port)/x"), as: .data)
        #expect(server.requests.map { $0.values(of: "Host") } == [["xn--bcher-kva.localhost:\(port)"]])
    }

    @Test(arguments: ContractTransport.all)
    func `a Location with an international name is followed`(transport: ContractTransport) async throws {
        let (server, last) = try servers {
            $0.replacing("127.0.0.1", with: "bücher.localhost").replacing("next", with: "né")
        }
        defer {
            server.stop()
            last.stop()
        }
        let response = try await transport.client.send(TransportRequest(to: server.url()), as: .stream)
        _ = try await response.body.collect()
        let port = try RequestURL(last.url()).effectivePort
        #expect(response.redirects.map(\.to.absoluteString) == ["http://xn--bcher-kva.localhost:\(port)/n%C3%A9"])
        #expect(last.requests.map(\.target) == ["/n%C3%A9"])
    }
}
