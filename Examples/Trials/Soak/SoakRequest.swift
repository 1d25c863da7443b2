import Foundation
import NetworkLayer
import NetworkTesting
import TrialSupport

/// One request of a soak, and the behavior of its caller.
struct SoakRequest: Sendable {
    enum Caller: CaseIterable { case collects, reads, drops, dropsLater, cancels, cancelsLate, callsBack, limits }

    let caller: Caller
    let yields: Int
    let request: RequestData
    let transportRequest: TransportRequest

    init(_ url: String, hasBody: Bool, using random: inout SeededGenerator) throws {
        caller = random.oneIn(2) ? .collects : Caller.allCases.randomElement(using: &random) ?? .collects
        yields = Int.random(in: 0...50, using: &random)
        request = RequestData(path: url, method: hasBody ? .post : .get, parameters: hasBody ? ["name": "value"] : nil)
        var options = TransportOptions()
        options.connectTimeout = .seconds(2)
        options.idleTimeout = .milliseconds(Int.random(in: 200...600, using: &random))
        options.totalTimeout = .milliseconds(Int.random(in: 500...3_000, using: &random))
        if caller == .limits { options.maximumBodyBytes = 100 }
        var made = try request.transportRequest(options: options)
        if hasBody { made.body = .bytes(PatternBytes.make(count: Int.random(in: 0...150_000, using: &random))) }
        transportRequest = made
    }

    /// Sends the request, and records its outcome.
    func run(over transport: any HTTPTransport, number: Int, ledger: Ledger) async {
        switch caller {
        case .callsBack: await callBack(over: transport, number: number, ledger: ledger)
        case .cancels, .cancelsLate:
            let task = Task { try await outcome(over: transport, ledger: ledger) }
            for _ in 0..<yields { await Task.yield() }
            if caller == .cancelsLate { await pause(milliseconds: yields) }
            task.cancel()
            await settle(number, ledger) { try await task.value }
        default: await settle(number, ledger) { try await outcome(over: transport, ledger: ledger) }
        }
    }

    private func settle(_ number: Int, _ ledger: Ledger, _ body: () async throws -> String) async {
        do {
            ledger.settle(number, try await body())
        } catch {
            ledger.settle(number, Self.name(of: error))
        }
    }

    private func outcome(over transport: any HTTPTransport, ledger: Ledger) async throws -> String {
        let response = try await transport.send(transportRequest)
        var body = Data()
        switch caller {
        case .drops: return "dropped"
        case .dropsLater:
            for try await _ in response.body { break }
            return "dropped"
        case .reads: for try await chunk in response.body { body += chunk }
        default: body = try await response.body.collect()
        }
        let length = HTTPField.Name("X-Length").flatMap { response.head.headerFields[$0] }.flatMap { Int($0) }
        if body.count != length || body != PatternBytes.make(count: body.count) {
            ledger.damage(
                "\(response.head.status.code), \(body.count) bytes instead of \(length.map(String.init) ?? "?")")
        }
        return "\(response.head.status.code), whole"
    }

    /// Sends with the closure form. A second callback shows as a second outcome.
    private func callBack(over transport: any HTTPTransport, number: Int, ledger: Ledger) async {
        let client = NetworkClient(transport: transport, options: transportRequest.options)
        await withCheckedContinuation { continuation in
            let first = FirstCall(continuation)
            client.dispatch(
                request: request,
                onSuccess: { body in
                    if body != PatternBytes.make(count: body.count) {
                        ledger.damage("\(body.count) bytes, called back")
                    }
                    ledger.settle(number, "200, whole")
                    first.resume()
                },
                onError: { error in
                    ledger.settle(number, Self.name(of: error))
                    first.resume()
                }
            )
        }
    }

    private static func name(of error: any Error) -> String {
        NetworkError.code(of: error)?.rawValue ?? "another error: \(error)"
    }

    private func pause(milliseconds: Int) async { try? await Task.sleep(for: .milliseconds(milliseconds)) }
}
