import CurlTransport
import Foundation
import NetworkCore
import NetworkResilience

/// Sends requests at a steady rate, whether the earlier ones have ended or not, and prints what became of each: when it
/// was due, how long it took in milliseconds, and its outcome.
///
///     Resilience URL ARM RATE SECONDS
///
/// `scripts/check-resilience` runs it against a server that has trouble for some time.
@main enum ResilienceTrial {
    /// The same client with more and more steps. Each call has two seconds.
    enum Arm: String, CaseIterable {
        case plain, retries, standard, hedged

        var client: NetworkClient {
            let client = NetworkClient(transport: CurlNetworkDispatcher.shared).with {
                $0.options.totalTimeout = .seconds(2)
            }
            switch self {
            case .plain: return client
            case .retries:
                // What is written by hand: three attempts of half a second, without a budget.
                var policy = RetryInterceptor.Policy()
                policy.codes.insert(.attemptTimeout)
                return client.with {
                    $0.interceptors = [
                        .retry(policy, budget: .init(capacity: 1e9)), AttemptTimeout(.milliseconds(500)),
                    ]
                }
            case .standard: return client.resilient()
            case .hedged:
                var resilience = Resilience.standard
                resilience.hedgingPercentile = 0.95
                return client.resilient(resilience)
            }
        }
    }

    private struct Line: Sendable {
        var due: Double
        var milliseconds: Double
        var outcome: String
    }

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let arm = Arm(rawValue: arguments[2]), let rate = Double(arguments[3]),
            let seconds = Double(arguments[4])
        else {
            FileHandle.standardError.write(Data("usage: Resilience URL ARM RATE SECONDS\n".utf8))
            exit(2)
        }
        let (client, request) = (arm.client, RequestData(url: arguments[1]))
        let begin = ContinuousClock.now
        await withTaskGroup(of: Line.self) { group in
            for number in 0..<Int(rate * seconds) {
                let due = Duration.seconds(Double(number) / rate)
                try? await ContinuousClock().sleep(until: begin + due)
                group.addTask {
                    let outcome = await outcome(of: request, by: client)
                    let time = ContinuousClock.now - begin - due
                    return Line(due: due / .seconds(1), milliseconds: time / .milliseconds(1), outcome: outcome)
                }
            }
            for await line in group {
                print(String(format: "%.3f %.2f %@", line.due, line.milliseconds, line.outcome))
            }
        }
    }

    private static func outcome(of request: RequestData, by client: NetworkClient) async -> String {
        do {
            _ = try await client.send(request, as: .data)
            return "ok"
        } catch {
            return NetworkError.code(of: error)?.rawValue ?? "\(type(of: error))"
        }
    }
}
