import Foundation
import HTTPTypes
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import NetworkResilience

@Suite("The address balancer", .patience(minutes: 1))
struct AddressBalancerTests {
    private let clock = ManualClock()
    private let peers: Peers
    private static let (a, b, c) = ("10.0.0.1", "10.0.0.2", "10.0.0.3")
    private static let refused = NetworkError(.connectFailed, "refused", phase: .connecting)

    init() { peers = Peers(clock) }

    private func balancer(
        _ resolver: ScriptedResolver = ScriptedResolver(a, b, c),
        _ change: (inout AddressBalancer.Options) -> Void = { _ in }
    ) -> (AddressBalancer, NetworkClient) {
        let balancer = AddressBalancer(resolver, clock, change)
        return (balancer, NetworkClient(transport: peers, baseURL: "http://h").balanced(balancer))
    }

    /// Sends requests one after the other, and returns how often each address was used.
    private func shares(
        _ count: Int, _ client: NetworkClient, _ change: (inout TransportOptions) -> Void = { _ in }
    ) async -> [String: Int] {
        var options = TransportOptions()
        change(&options)
        for _ in 0..<count { _ = await client.outcome(options: options) }
        return peers.shares()
    }

    @Test func `equal addresses get equal shares, and the request stays as it was`() async {
        let (balancer, client) = balancer()
        _ = await client.outcome()
        let request = peers.sent.first
        #expect(request?.url.absoluteString == "http://h/a" && request?.options.names.addresses.first?.host == "h")
        let shares = await shares(2_999, client)
        #expect(shares.values.reduce(0, +) == 3_000 && shares.values.allSatisfy { (900...1_100).contains($0) })
        #expect(shares.keys.sorted() == [Self.a, Self.b, Self.c])
        let states = balancer.states["h:80"]?.addresses ?? []
        #expect(states.map(\.inFlight) == [0, 0, 0] && states.map(\.requests).reduce(0, +) == 3_000)
        let requests = balancer.figures.filter { $0.name == "networklayer.address.requests" }
        #expect(requests.map(\.number).reduce(0, +) == 3_000)
        #expect(Set(requests.map(\.dimensions)) == Set(shares.keys.map { ["name": "h:80", "address": $0] }))
    }

    /// A transport finds what it knows of a request's options by their identity.
    @Test func `requests to one address have the same options`() async {
        let (_, client) = balancer()
        _ = await client.outcome()
        for _ in 0..<100 { _ = await client.outcome() }
        var options = TransportOptions()
        options.tls.minimumVersion = .tls1_3
        for _ in 0..<100 { _ = await client.outcome(options: options) }
        #expect(Set(peers.sent.map(\.options.groupsIdentity)).count == 6)
    }

    @Test func `a slow address gets few requests, and is tried again later`() async {
        let (_, client) = balancer()
        peers[Self.b] = .responds(after: .milliseconds(200))
        let slow = await shares(2_000, client)
        #expect((1...40).contains(slow[Self.b] ?? 0))
        peers[Self.b] = .responds(after: .milliseconds(1))
        clock.advance(by: .seconds(90))
        let later = await shares(300, client)
        #expect((later[Self.b] ?? 0) > 50)
    }

    @Test func `addresses with as many requests in flight get as many more`() async throws {
        let (balancer, client) = balancer()
        var held: [TransportResponse.Body] = []
        for _ in 0..<300 { held.append(try await client.send(RequestData(path: "a"), as: .stream).body) }
        let inFlight = (balancer.states["h:80"]?.addresses ?? []).map(\.inFlight)
        #expect(inFlight.reduce(0, +) == 300 && inFlight.allSatisfy { (85...115).contains($0) })
        for body in held { _ = try await body.collect() }
        #expect(balancer.states["h:80"]?.addresses.map(\.inFlight) == [0, 0, 0])
    }

    @Test func `failures in a row eject, one request tries it later, and each ejection is longer`() async {
        let (balancer, client) = balancer()
        peers[Self.b] = .responds(after: .milliseconds(1), status: 503)
        let first = await shares(300, client)
        #expect(first[Self.b] == 5 && balancer.ejected == [Self.b])
        clock.advance(by: .seconds(5))
        #expect(await shares(300, client)[Self.b] == 1)
        clock.advance(by: .seconds(6))
        #expect(await shares(300, client)[Self.b] == nil)
        clock.advance(by: .seconds(4))
        peers[Self.b] = .responds(after: .milliseconds(1))
        // It returns with a tenth of its share.
        #expect((2...30).contains(await shares(100, client)[Self.b] ?? 0) && balancer.ejected == [])
        clock.advance(by: .seconds(10))
        #expect((70...130).contains(await shares(300, client)[Self.b] ?? 0))
    }

    /// Regression: it stayed out for as long as a response from before was read.
    @Test func `an ejected address is tried although an older response of it is still read`() async throws {
        let (balancer, client) = balancer()
        var held: [TransportResponse.Body] = []
        for _ in 0..<20 { held.append(try await client.send(RequestData(path: "a"), as: .stream).body) }
        #expect(peers.shares()[Self.b] ?? 0 > 0)
        peers[Self.b] = .responds(after: .milliseconds(1), status: 503)
        _ = await shares(300, client)
        #expect(balancer.ejected == [Self.b])
        peers[Self.b] = .responds(after: .milliseconds(1))
        clock.advance(by: .seconds(5))
        #expect((await shares(300, client)[Self.b] ?? 0) > 0 && balancer.ejected == [])
        for body in held { _ = try await body.collect() }
    }

    @Test(arguments: [HTTPRequest.Method.get, .post])
    func `an unreachable address costs no request`(method: HTTPRequest.Method) async {
        let (balancer, client) = balancer()
        peers[Self.b] = .fails(Self.refused)
        for _ in 0..<200 { #expect(await client.outcome("http://h/a", method) == "200") }
        #expect(peers.shares()[Self.b] == 1 && balancer.ejected == [Self.b])
    }

    @Test func `the error names the address, and never are all of them ejected`() async throws {
        let (balancer, client) = balancer(ScriptedResolver(Self.a, Self.b, Self.c)) { $0.maximumEjected = 1 }
        for address in [Self.a, Self.b, Self.c] { peers[address] = .fails(Self.refused) }
        let error = await expectFailure(.connectFailed) { try await client.send(RequestData(path: "a"), as: .text) }
        #expect(error?.message.contains("after 2 others of h:80") == true && error?.message.contains("10.0.0.") == true)
        #expect(await shares(100, client).count == 3)
        #expect(balancer.ejected.count == 2)
        let (half, halfClient) = self.balancer()
        #expect(await shares(100, halfClient).count == 3 && half.ejected.count == 1)
    }

    @Test func `a body that can be read once goes to one address`() async throws {
        let (_, client) = balancer(ScriptedResolver(Self.a, Self.b))
        for address in [Self.a, Self.b] { peers[address] = .fails(Self.refused) }
        let body = TransportRequest.Body.stream(AsyncStream<Data> { $0.finish() })
        let request = TransportRequest(method: .post, url: try RequestURL("http://h/a"), body: body)
        await expectFailure(.connectFailed) { try await client.send(request, as: .text) }
        #expect(peers.sent.count == 1)
    }

    /// Of a request that the transport has sent again, the first sending may have been executed.
    @Test(arguments: [(HTTPRequest.Method.post, 1), (.get, 2)])
    func `what may have been executed goes out again only if it is idempotent`(
        method: HTTPRequest.Method, count: Int
    ) async {
        let (_, client) = balancer(ScriptedResolver(Self.a, Self.b))
        var error = Self.refused.during(
            TransportRequest(method: method, url: try! RequestURL("http://h/a")), transport: "x", elapsed: .zero,
            repeats: 1)
        error.phase = .connecting
        for address in [Self.a, Self.b] { peers[address] = .fails(error) }
        #expect(await client.outcome("http://h/a", method) == "connectFailed" && peers.sent.count == count)
    }

    @Test func `a new address starts slowly, and one that is gone gets nothing`() async {
        let resolver = ScriptedResolver(.success([Self.a, Self.b]), .success([Self.b, Self.c]))
        let (balancer, client) = balancer(resolver) { $0.slowStart = .seconds(100) }
        #expect(await shares(100, client).keys.sorted() == [Self.a, Self.b])
        clock.advance(by: .seconds(31))
        _ = await client.outcome()
        while balancer.states["h:80"]?.age != .zero { await Task.yield() }
        _ = peers.shares()
        let early = await shares(1_000, client)
        #expect(early[Self.a] == nil && (40...180).contains(early[Self.c] ?? 0))
        clock.advance(by: .seconds(25))
        let late = await shares(1_000, client)
        #expect((120...350).contains(late[Self.c] ?? 0))
    }

    @Test func `stale addresses stay when a lookup fails, and the reason is shown`() async {
        let lost = NetworkError(.nameNotResolved, "no server could be reached", phase: .connecting)
        let resolver = ScriptedResolver(.success([Self.a]), .failure(lost))
        let (balancer, client) = balancer(resolver)
        #expect(await client.outcome() == "200")
        // After a long pause a request waits for the lookup.
        clock.advance(by: .seconds(600))
        #expect(await client.outcome() == "200" && resolver.asked == ["h", "h"])
        #expect(balancer.states["h:80"]?.problem == "no server could be reached")
        #expect(balancer.states["h:80"]?.age ?? .zero > .seconds(600))
        for _ in 0..<10 { #expect(await client.outcome() == "200") }
        #expect(resolver.asked.count == 2)
    }

    @Test func `without addresses the lookup's error is the call's, and the next call looks again`() async {
        let lost = NetworkError(.nameNotResolved, "no such host", phase: .connecting)
        let resolver = ScriptedResolver(.failure(lost), .success([]), .success([Self.a]))
        let (_, client) = balancer(resolver)
        #expect(await client.outcome() == "nameNotResolved")
        #expect(await client.outcome() == "nameNotResolved")
        #expect(await client.outcome() == "200")
    }

    @Test func `many first requests share one lookup, whose time is limited`() async {
        let resolver = StuckResolver()
        var options = AddressBalancer.Options()
        options.lookUpTimeout = .milliseconds(50)
        let stuck = AddressBalancer(options: options, resolver: resolver)
        let client = NetworkClient(transport: peers, baseURL: "http://h").balanced(stuck)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let error = await expectFailure(.nameNotResolved) {
                        try await client.send(RequestData(path: "a"), as: .text)
                    }
                    #expect(error?.message.contains("h:80") == true)
                }
            }
        }
        #expect(resolver.asked.load(ordering: .relaxed) == 1)
        resolver.gate.open()
    }

    private typealias Change = @Sendable (inout TransportRequest) -> Void

    @Test(
        arguments: [
            { $0.url = try! RequestURL("http://10.9.9.9/a") },
            { $0.options.names.addresses = [.init("h", port: 80, ["10.1.1.1"])] },
            { $0.options.names.connectTo = [.init(toHost: "other")] },
            { $0.options.names.dnsOverHTTPS = "https://dns/q" },
            { $0.options.connection.unixSocket = .path("/s") },
            { $0.options.proxy = .explicit(.init("http://p:1")) },
        ] as [@Sendable (inout TransportRequest) -> Void])
    func `requests with a place of their own pass unchanged`(change: @Sendable (inout TransportRequest) -> Void)
        async throws
    {
        let resolver = ScriptedResolver(Self.a)
        let (_, client) = balancer(resolver)
        var request = TransportRequest(url: try RequestURL("http://h/a"))
        change(&request)
        _ = try await client.send(request, as: .text)
        #expect(resolver.asked == [] && peers.sent.first?.options.names.addresses == request.options.names.addresses)
    }

    @Test func `a redirect to another host leaves the addresses behind`() async throws {
        let stub = StubTransport()
        stub.when(.get("/a"), .status(302, headerFields: [.location: "http://other/b"]))
        stub.always(.any, .text("x"))
        let resolver = ScriptedResolver(Self.a)
        let client = NetworkClient(transport: stub).balanced(AddressBalancer(resolver, clock))
        #expect(await client.outcome() == "200")
        #expect(stub.sent.map { $0.options.names.addresses.first?.addresses } == [[Self.a], nil])
        #expect(resolver.asked == ["h"])
    }

    @Test func `a transport that can't pin addresses refuses the request`() async {
        let stub = StubTransport(lacking: [.nameOptions])
        let client = NetworkClient(transport: stub).balanced(AddressBalancer(ScriptedResolver(Self.a), clock))
        #expect(await client.outcome() == "unsupported" && stub.sent.isEmpty)
    }

    @Test func `the policy, the version of IP and the limit choose among the addresses`() async throws {
        let resolver = ScriptedResolver(.success(["::1", "::2", Self.a, Self.a, "93.184.216.34"]))
        let (_, client) = balancer(resolver)
        #expect(await shares(100, client).keys.sorted() == ["0:0:0:0:0:0:0:1", "0:0:0:0:0:0:0:2"])
        #expect(await shares(100, client) { $0.connection.ipVersion = .v4 }.keys.sorted() == [Self.a, "93.184.216.34"])
        let global = await shares(100, client) {
            ($0.connection.ipVersion, $0.addressPolicy) = (.v4, .noPrivateRanges)
        }
        #expect(global == ["93.184.216.34": 100])
        let many = ScriptedResolver(.success((1...200).map { "10.1.0.\($0)" }))
        #expect(await shares(1_000, balancer(many).1).count == 16)
        #expect(await shares(3_000, balancer(many) { $0.addresses = 1_000 }.1).count == 64)
    }

    @Test func `what a policy refuses of one request ejects nothing for others`() async {
        let (balancer, client) = balancer(ScriptedResolver(Self.a, Self.b))
        peers[Self.a] = .fails(NetworkError(.addressRefused, "no", phase: .connecting))
        for _ in 0..<50 { #expect(await client.outcome() == "200") }
        #expect(balancer.ejected == [])
    }

    @Test func `each name has addresses of its own`() async {
        let (balancer, client) = balancer()
        for url in ["http://h/", "http://h:81/", "http://i/", "https://i/"] {
            #expect(await client.outcome(url) == "200")
        }
        #expect(balancer.states.keys.sorted() == ["h:80", "h:81", "i:443", "i:80"])
    }

    @Test func `the system's resolver finds addresses, and says why there are none`() async throws {
        #expect(try await SystemResolver().addresses(of: "127.0.0.1").map(\.description) == ["127.0.0.1"])
        #expect(try await SystemResolver().addresses(of: "::1").map(\.bytes.count) == [16])
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 { group.addTask { try await SystemResolver().addresses(of: "127.0.0.9").count } }
            for try await count in group { #expect(count == 1) }
        }
        let error = await expectFailure(.nameNotResolved) { try await SystemResolver().addresses(of: "a..b") }
        #expect(error?.message.contains("'a..b'") == true && error?.underlying?.domain == "getaddrinfo")
    }
}

/// A resolver that does not return before its gate is open.
private final class StuckResolver: AddressResolver {
    let asked = Atomic(0)
    let gate = Gate()

    func addresses(of host: String) async throws -> [AddressPolicy.Address] {
        asked.add(1, ordering: .relaxed)
        try await gate.wait()
        return []
    }
}
