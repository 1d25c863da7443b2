import Foundation
import NetworkLayer
import Synchronization

/// Signs the method, the path and the body with HMAC-SHA-256 (RFC 2104), in the field `X-Signature`.
struct HMACSigning: Interceptor {
    let key: Data

    func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        var request = request
        if let body = request.body, !body.isReplayable {
            // Reading consumes the body, so the bytes that are signed replace it.
            request.body = .bytes(try await body.collect(upTo: request.options.maximumBodyBytes))
        }
        let digest = Mutex(HMAC(key: key))
        digest.withLock { $0.update(Data("\(request.method.rawValue) \(request.url.path)\n".utf8)) }
        try await request.body?.read { piece in digest.withLock { $0.update(piece) } }
        let signature = digest.withLock { $0.finish() }.map { String(format: "%02x", $0) }.joined()
        request.headerFields.append(try HTTPField(checking: "X-Signature", value: signature))
        return try await next(request)
    }
}

/// HMAC on top of the library's own SHA-256.
struct HMAC {
    private var inner = SHA256Checksum()
    private let outerKey: Data

    init(key: Data) {
        var key = key
        if key.count > 64 {
            var hash = SHA256Checksum()
            hash.update(key)
            key = Data(hash.finish())
        }
        key += Data(repeating: 0, count: 64 - key.count)
        outerKey = Data(key.map { $0 ^ 0x5C })
        inner.update(Data(key.map { $0 ^ 0x36 }))
    }

    mutating func update(_ bytes: Data) { inner.update(bytes) }

    mutating func finish() -> [UInt8] {
        var outer = SHA256Checksum()
        outer.update(outerKey)
        outer.update(Data(inner.finish()))
        return outer.finish()
    }
}

/// Logs the first bytes of both bodies as they pass.
struct BodyLogging: Interceptor {
    let limit: Int
    let log: @Sendable (_ what: String, _ bytes: Data) -> Void

    func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        var request = request
        if let bytes = request.body?.bytes {
            log("request", bytes.prefix(limit))
        } else if let body = request.body {
            let tee = Tee(log: log, what: "request", limit: limit)
            request.body = .stream(Pieces(of: body, seenBy: tee), length: body.length)
        }
        var response = try await next(request)
        let passing = PassingBody(response, Tee(log: log, what: "response", limit: limit))
        response = TransportResponse(head: response.head, body: TransportResponse.Body(source: passing))
        return response
    }
}

/// The first bytes of a body that has passed. They are logged once, when the body ends or is no longer referenced.
final class Tee: Sendable {
    private let seen = Mutex<Data?>(Data())
    private let log: @Sendable (String, Data) -> Void
    private let what: String
    private let limit: Int

    init(log: @escaping @Sendable (String, Data) -> Void, what: String, limit: Int) {
        (self.log, self.what, self.limit) = (log, what, limit)
    }

    deinit { end() }

    func pass(_ piece: Data) {
        seen.withLock { seen in
            let room = max(0, limit - (seen?.count ?? limit))
            seen?.append(piece.prefix(room))
        }
    }

    func end() {
        if let bytes = seen.withLock({ $0.take() }) { log(what, bytes) }
    }
}

/// The chunks of a request's body as a sequence.
struct Pieces: AsyncSequence, Sendable {
    private let body: TransportRequest.Body
    private let tee: Tee

    init(of body: TransportRequest.Body, seenBy tee: Tee) { (self.body, self.tee) = (body, tee) }

    func makeAsyncIterator() -> Iterator {
        let channel = Channel()
        let (body, tee) = (body, tee)
        let reading = Task {
            do {
                try await body.read { piece in
                    tee.pass(piece)
                    try await channel.send(piece)
                }
                tee.end()
                await channel.finish()
            } catch { await channel.finish(throwing: error) }
        }
        return Iterator(channel: channel, reading: reading)
    }

    final class Iterator: AsyncIteratorProtocol {
        private let channel: Channel
        private let reading: Task<Void, Never>

        init(channel: Channel, reading: Task<Void, Never>) { (self.channel, self.reading) = (channel, reading) }

        deinit { reading.cancel() }

        func next() async throws -> Data? { try await channel.next() }
    }
}

/// The body of another response, passed on chunk by chunk.
final class PassingBody: TransportResponse.BodySource {
    private let response: TransportResponse
    private let tee: Tee

    init(_ response: TransportResponse, _ tee: Tee) { (self.response, self.tee) = (response, tee) }

    func next() async throws -> Data? {
        // Each iterator of a body continues where the last one stopped.
        var pieces = response.body.makeAsyncIterator()
        let piece = try await pieces.next()
        if let piece { tee.pass(piece) } else { tee.end() }
        return piece
    }

    func collect(upTo limit: Int?) async throws -> Data {
        let bytes = try await response.body.collect(upTo: limit)
        tee.pass(bytes)
        tee.end()
        return bytes
    }

    var metrics: TransportMetrics { response.metrics }
    var trailers: HTTPFields? { response.body.trailers }
}

/// Records exchanges, and plays them back without a transport.
final class Recorder: Interceptor {
    struct Exchange: Codable, Sendable {
        let method: String
        let url: String
        let requestBody: Data?
        let status: Int
        let fields: [[String]]
        let body: Data
    }

    private let tape: Mutex<[Exchange]>
    private let isPlaying: Bool

    /// Creates a recorder.
    init() {
        tape = Mutex([])
        isPlaying = false
    }

    /// Creates a player of a recording. It plays each exchange once, for the first request that matches it.
    init(playing recording: Data) throws {
        tape = Mutex(try JSONDecoder().decode([Exchange].self, from: recording))
        isPlaying = true
    }

    var recording: Data {
        get throws { try JSONEncoder().encode(tape.withLock { $0 }) }
    }

    func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        var request = request
        let sent = try await request.body?.collect(upTo: 1 << 20)
        request.body = sent.map { .bytes($0) }
        if isPlaying { return try played(request, sent) }
        let response = try await next(request)
        let body = try await response.body.collect(upTo: 1 << 20)
        let exchange = Exchange(
            method: request.method.rawValue, url: request.url.absoluteString, requestBody: sent,
            status: response.status.code, fields: response.head.headerFields.map { [$0.name.rawName, $0.value] },
            body: body)
        tape.withLock { $0.append(exchange) }
        return TransportResponse(head: response.head, body: TransportResponse.Body(body))
    }

    private func played(_ request: TransportRequest, _ sent: Data?) throws -> TransportResponse {
        let found = tape.withLock { tape -> Exchange? in
            let index = tape.firstIndex {
                $0.method == request.method.rawValue && $0.url == request.url.absoluteString && $0.requestBody == sent
            }
            return index.map { tape.remove(at: $0) }
        }
        guard let found else {
            throw NetworkError(.connectFailed, "no such exchange was recorded: \(request.method) \(request.url)")
        }
        var head = HTTPResponse(status: .init(code: found.status))
        for field in found.fields { head.headerFields.append(try HTTPField(checking: field[0], value: field[1])) }
        return TransportResponse(head: head, body: TransportResponse.Body(found.body))
    }
}
