import HTTPTypes
public import NetworkCore
import Synchronization

/// A step that limits the requests in flight. The others wait in order, or fail at once.
///
/// ```swift
/// client.interceptors.append(ConcurrencyLimit(.fixed(100)))                  // a bulkhead for each origin
/// client.interceptors.append(ConcurrencyLimit(.adaptive(upTo: 500)))         // what the server can take
/// ```
///
/// A request is in flight until the body of its response has ended or is released. One that finds no place fails with
/// ``NetworkCore/NetworkError/Code/overloaded`` when ``maximumQueued`` wait already, or after ``maximumWait``. It has
/// not been sent then.
///
/// An adaptive limit grows by up to one for each round of requests, and falls to seven tenths when the server shows
/// that it has too much (a timeout, 429, 503): additive increase, multiplicative decrease, as TCP finds its rate ([RFC
/// 9438 §4.6](https://www.rfc-editor.org/rfc/rfc9438#section-4.6)). Failures within one round count once. While less
/// than half of it is used, it stays: a failure then says nothing of the unused rest, and a few of them under a light
/// load would leave no places for the next heavy one.
public final class ConcurrencyLimit: Interceptor, ReportsFigures {
    /// How the limit is set.
    public struct Limit: Sendable {
        let initial: Double
        let range: ClosedRange<Double>

        /// The same number at all times, from 1 to a million.
        public static func fixed(_ number: Int) -> Limit {
            let number = clamped(number)
            return Limit(initial: number, range: number...number)
        }

        private static func clamped(_ number: Int) -> Double { Double(min(max(1, number), 1_000_000)) }

        /// A number that follows the server.
        /// - Parameters:
        ///   - maximum: The upper limit. Default: 1,000.
        ///   - minimum: The lower limit. Default: 1.
        ///   - initial: The limit at the start. Default: 20.
        public static func adaptive(upTo maximum: Int = 1_000, from minimum: Int = 1, initial: Int = 20) -> Limit {
            let low = clamped(minimum)
            let high = max(low, clamped(maximum))
            return Limit(initial: min(max(clamped(initial), low), high), range: low...high)
        }
    }

    /// The requests of one key.
    public struct State: Sendable, Hashable {
        /// The limit now.
        public let limit: Int
        /// The limit that it may grow to.
        public let maximum: Int
        /// The requests in flight.
        public let running: Int
        /// The requests that wait.
        public let waiting: Int
    }

    /// The number of requests that may wait for each key.
    public let maximumQueued: Int
    /// The longest time that a request waits; the call's own deadline may end the wait before.
    public let maximumWait: Duration
    private let key: ResilienceKey
    private let time: StepTime
    private let gates: KeyedStates<PlaceGate>

    /// Creates a limit.
    /// - Parameters:
    ///   - limit: How the limit is set.
    ///   - key: What shares a limit. Default: the requests of one origin.
    ///   - maximumQueued: The number of requests that may wait. Default: 1,000.
    ///   - maximumWait: The longest wait. Default: 250 ms: a longer queue only makes the responses late.
    ///   - clock: The clock, for tests.
    public init(
        _ limit: Limit, by key: ResilienceKey = .origin, maximumQueued: Int = 1_000,
        maximumWait: Duration = .milliseconds(250), clock: some Clock<Duration> = ContinuousClock()
    ) {
        (self.key, self.maximumQueued, self.maximumWait) = (key, maximumQueued, maximumWait)
        time = StepTime(clock)
        gates = KeyedStates(isIdle: \.isIdle, make: { PlaceGate(limit) })
    }

    /// The states of the keys that were met.
    public var states: [String: State] { gates.map(\.shown) }

    /// `networklayer.limit.places`, `networklayer.limit.running` and `networklayer.limit.waiting`, by `key`.
    public var figures: [Figure] {
        states.flatMap { key, state in
            [("places", state.limit), ("running", state.running), ("waiting", state.waiting)].map { name, number in
                Figure("networklayer.limit.\(name)", Double(number), by: ["key": key])
            }
        }
    }

    /// Passes the request on when it has a place.
    /// - Throws: ``NetworkCore/NetworkError/Code/overloaded``.
    public func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        let name = key.name(request)
        let gate = gates.state(of: name)
        let place = try await enter(gate, name)
        let response: TransportResponse
        do {
            response = try await next(request)
        } catch {
            gate.leave(place, isOverload: Self.isOverload(.failure(call.reported(error))))
            throw error
        }
        let isOverload = Self.isOverload(.success(response))
        return response.witnessed { event in
            switch event {
            case .bytes: return
            case .end, .release: gate.leave(place, isOverload: isOverload)
            case .failure(let error): gate.leave(place, isOverload: Self.isOverload(.failure(call.reported(error))))
            }
        }
    }

    private func enter(_ gate: PlaceGate, _ name: String) async throws -> PlaceGate.Place {
        switch gate.arrive(maximumQueued: maximumQueued) {
        case .place(let place): return place
        case .full(let limit): throw Self.refused(name, "\(limit) are in flight, and \(maximumQueued) wait")
        case .wait(let ticket):
            let (maximumWait, time) = (maximumWait, time)
            return try await withThrowingTaskGroup(of: PlaceGate.Place?.self) { group in
                group.addTask { await gate.wait(ticket) }
                group.addTask {
                    try? await time.sleep(maximumWait)
                    gate.giveUp(ticket)
                    return nil
                }
                defer { group.cancelAll() }
                // The first to end may be the clock, while the place has just come.
                while let ended = try await group.next() { if let place = ended { return place } }
                if Task.isCancelled { throw NetworkError.cancelled }
                let state = gate.shown
                let limit = state.maximum > state.limit ? "\(state.limit), at most \(state.maximum)" : "\(state.limit)"
                throw Self.refused(name, "no place was free within \(maximumWait), and the limit is \(limit)")
            }
        }
    }

    private static func isOverload(_ outcome: Result<TransportResponse, any Error>) -> Bool {
        switch outcome {
        case .success(let response): return [429, 503].contains(response.status.code)
        case .failure(let error):
            let codes: Set<NetworkError.Code> = [
                .connectTimeout, .firstByteTimeout, .idleTimeout, .totalTimeout, .attemptTimeout,
            ]
            return NetworkError.code(of: error).map(codes.contains) ?? false
        }
    }

    private static func refused(_ name: String, _ why: String) -> NetworkError {
        NetworkError(
            .overloaded, "too many requests to \(Redaction.visible(name)) at once: \(why) (ConcurrencyLimit)",
            phase: .queued)
    }
}

/// The places of one key. A place that becomes free goes to the first that waits.
final class PlaceGate: Sendable {
    /// A place, with the number of the decrease before it began.
    struct Place: Sendable, Equatable { let era: Int }

    enum Arrival { case place(Place), wait(ticket: Int), full(limit: Int) }

    private struct Waiter {
        let ticket: Int
        var continuation: CheckedContinuation<Place?, Never>?
    }

    private struct State {
        let range: ClosedRange<Double>
        var limit: Double
        var running = 0
        var waiters: [Waiter] = []
        var lastTicket = 0
        var era = 0

        /// Takes the waiters that have a place now.
        mutating func admit() -> [(CheckedContinuation<Place?, Never>, Place)] {
            var admitted: [(CheckedContinuation<Place?, Never>, Place)] = []
            while running < Int(limit), let first = waiters.first, let continuation = first.continuation {
                waiters.removeFirst()
                running += 1
                admitted.append((continuation, Place(era: era)))
            }
            return admitted
        }
    }

    private let state: Guarded<State>

    init(_ limit: ConcurrencyLimit.Limit) { state = Guarded(State(range: limit.range, limit: limit.initial)) }

    var isIdle: Bool { state.withLock { $0.running == 0 && $0.waiters.isEmpty } }

    var shown: ConcurrencyLimit.State {
        state.withLock {
            .init(
                limit: Int($0.limit), maximum: Int($0.range.upperBound), running: $0.running,
                waiting: $0.waiters.count)
        }
    }

    func arrive(maximumQueued: Int) -> Arrival {
        state.withLock { state in
            if state.waiters.isEmpty, state.running < Int(state.limit) {
                state.running += 1
                return .place(Place(era: state.era))
            }
            guard state.waiters.count < maximumQueued else { return .full(limit: Int(state.limit)) }
            state.lastTicket += 1
            state.waiters.append(Waiter(ticket: state.lastTicket))
            return .wait(ticket: state.lastTicket)
        }
    }

    /// Waits for the place of a ticket; `nil` after ``giveUp(_:)`` and in a cancelled task.
    func wait(_ ticket: Int) async -> Place? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isGone, admitted) = state.withLock { state in
                    guard let index = state.waiters.firstIndex(where: { $0.ticket == ticket }) else {
                        return (true, [(CheckedContinuation<Place?, Never>, Place)]())
                    }
                    state.waiters[index].continuation = continuation
                    return (false, state.admit())
                }
                if isGone { continuation.resume(returning: nil) }
                for (continuation, place) in admitted { continuation.resume(returning: place) }
            }
        } onCancel: {
            giveUp(ticket)
        }
    }

    /// Takes a ticket back that has no place yet.
    func giveUp(_ ticket: Int) {
        let (continuation, admitted) = state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.ticket == ticket }) else {
                return (nil as CheckedContinuation<Place?, Never>?, [(CheckedContinuation<Place?, Never>, Place)]())
            }
            return (state.waiters.remove(at: index).continuation, state.admit())
        }
        continuation?.resume(returning: nil)
        for (continuation, place) in admitted { continuation.resume(returning: place) }
    }

    func leave(_ place: Place, isOverload: Bool) {
        let admitted = state.withLock { state in
            let wasUsed = Double(state.running) * 2 >= state.limit
            state.running -= 1
            if isOverload {
                // The failures of one round have one cause.
                if wasUsed, place.era == state.era {
                    state.limit = max(state.range.lowerBound, state.limit * 0.7)
                    state.era += 1
                }
            } else if wasUsed {
                state.limit = min(state.range.upperBound, state.limit + 1 / state.limit)
            }
            return state.admit()
        }
        for (continuation, place) in admitted { continuation.resume(returning: place) }
    }
}
