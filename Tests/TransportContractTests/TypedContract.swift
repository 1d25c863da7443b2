import Dispatch
import Foundation
import NetworkLayer
import NetworkTesting
import Synchronization
import TestSupport
import Testing

private struct User: Codable, Equatable {
    let id: Int
    let name: String
}

private struct GetUsers: RequestType {
    typealias ResponseType = [User]
    let url: String
    var data: RequestData { RequestData(path: url, parameters: ["token": "query-secret"]) }
}

@Suite(.patience(minutes: 1))
struct TypedContract {
    @Test(arguments: ContractTransport.all)
    func `users are decoded`(transport: ContractTransport) async throws {
        let response = try await GetUsers(url: Demo.url("/users")).send(over: transport.transport)
        #expect(response.status == .ok)
        #expect(response.headerFields[.contentType] == "application/json")
        #expect(response.body.map(\.id) == [1, 2, 3])
    }

    @Test(arguments: ContractTransport.all)
    func `gzip JSON is decoded`(transport: ContractTransport) async throws {
        struct Row: Codable { let dataField1: String }
        struct GetRows: RequestType {
            typealias ResponseType = [Row]
            let data: RequestData
        }
        let rows = try await GetRows(data: RequestData(path: Demo.url("/gzip"))).send(over: transport.transport).body
        #expect(rows.count == 100)
    }

    @Test(arguments: ContractTransport.all, [300, 304, 400, 401, 404, 418, 500, 503])
    func `a status beyond 2xx is an error with the response`(transport: ContractTransport, status: Int) async throws {
        let body = status == 304 ? Data() : Data("body-secret".utf8)
        let fields = [("X-A", "b"), ("Location", "/x"), ("WWW-Authenticate", "Basic realm=\"r\"")]
        let notModified: Script = [.read, .send(Script.head(304, fields: fields))]
        try await withServer(status == 304 ? notModified : .response(status, fields: fields, body: body)) { server in
            let error = await expectFailure(.unacceptableStatus) {
                try await GetUsers(url: server.url("/u")).send(over: transport.transport).body
            }
            let response = try #require(error?.response)
            #expect(response.status.code == status && response.body == body)
            #expect(HTTPField.Name("x-a").flatMap { response.headerFields[$0] } == "b")
            #expect(error?.exchange?.url == server.url("/u?…"))
            #expect(error?.description.contains("secret") == false)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `an undecodable body is an error that shows where`(transport: ContractTransport) async throws {
        let body = #"[{"id":1,"name":"Ada"},{"id":2,"name":7}]"#
        try await withServer(.ok(body)) { server in
            let error = await expectFailure(.decodingFailed) {
                try await GetUsers(url: server.url()).send(over: transport.transport)
            }
            let decoding = try #require(error?.decoding)
            #expect(decoding.type.contains("User") && decoding.codingPath == "[1].name" && decoding.bodyStart == body)
            #expect(error?.response?.status == .ok)
            #expect(error?.description.contains("Ada") == false)
            #expect(error?.unredactedDescription.contains("Ada") == true)
        }
    }

    @Test(arguments: ContractTransport.all, [200, 204])
    func `an empty body is no data`(transport: ContractTransport, status: Int) async throws {
        try await withServer([.forEachRequest([.respond(status)])]) { server in
            _ = await expectFailure(.noData) { try await GetUsers(url: server.url()).send(over: transport.transport) }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `execute calls once on the queue`(transport: ContractTransport) async throws {
        let queue = DispatchQueue(label: "callbacks")
        let key = DispatchSpecificKey<Int>()
        queue.setSpecific(key: key, value: 1)
        let calls = Guarded(0)
        for path in ["/users", "/status/500"] {
            let request = GetUsers(url: try await Demo.url(path))
            let isOnQueue = await withCheckedContinuation { continuation in
                let called: @Sendable () -> Void = {
                    calls.withLock { $0 += 1 }
                    continuation.resume(returning: DispatchQueue.getSpecific(key: key) == 1)
                }
                request.execute(
                    dispatcher: transport.transport,
                    queue: queue,
                    onSuccess: { _ in called() },
                    onError: { _ in called() }
                )
            }
            #expect(isOnQueue)
        }
        queue.sync {}
        #expect(calls.withLock { $0 } == 2)
    }

    @Test(arguments: ContractTransport.all)
    func `progress grows to the end`(transport: ContractTransport) async throws {
        let reports = Guarded<[(Int, Int?)]>([])
        let url = try await Demo.url("/bytes/500000")
        _ = try await transport.send(.get, url) {
            $0.progress = { step in
                reports.withLock { $0.append((step.completed, step.total)) }
            }
        }
        let seen = reports.withLock { $0 }
        #expect(seen.last?.0 == 500_000)
        #expect(seen.last?.1 == 500_000)
        #expect(seen.map(\.0) == seen.map(\.0).sorted())
    }
}
