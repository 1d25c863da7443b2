import HTTPTypes
import NetworkCore
import NetworkResilience

extension Setting {
    /// The steps of ``NetworkResilience/Resilience``.
    static let resilience: [Setting] =
        [.flag("resilience.enabled", default: false, \.isResilient)]
        + (retries + limits).map { $0.needing($0.needs ?? "resilience.enabled") }

    private static let retries: [Setting] = [
        .integer("resilience.retries.maximum", default: "2", in: 0...100, \.steps.retries.maximumRetries),
        .list("resilience.retries.methods", "methods", default: "DELETE, GET, HEAD, OPTIONS, PUT") { draft, names in
            draft.steps.retries.methods = Set(
                try names.map {
                    guard let method = try? HTTPRequest.Method(checking: $0) else {
                        throw WrongValue("must be methods, such as 'GET, PUT'")
                    }
                    return method
                })
        },
        .list("resilience.retries.statuses", "statuses", default: "408, 425, 429, 502, 503, 504") { draft, texts in
            draft.steps.retries.statuses = Set(
                try texts.map {
                    guard let status = Int($0), (100...999).contains(status) else {
                        throw WrongValue("must be numbers from 100 to 999")
                    }
                    return status
                })
        },
        .time("resilience.retries.baseDelay", default: "200 ms", from: "0 s", \.steps.retries.baseDelay),
        .time("resilience.retries.maximumDelay", default: "20 s", from: "0 s", \.steps.retries.maximumDelay),
        .time("resilience.retries.maximumRetryAfter", default: "60 s", from: "0 s", \.steps.retries.maximumRetryAfter),
        .number("resilience.budget.capacity", default: "20", in: 0...1_000_000, \.steps.budgetCapacity),
        .number("resilience.budget.perCall", default: "0.1", in: 0...100, \.steps.budgetPerCall),
        .timeOrNone("resilience.attemptTimeout", default: "10 s", \.steps.attemptTimeout),
    ]

    private static let limits: [Setting] = [
        .text("resilience.concurrency.limit", "1 to 1000000, adaptive, none", default: "adaptive") { draft, text in
            switch text {
            case "adaptive": draft.steps.concurrency = .adaptive
            case "none": draft.steps.concurrency = .none
            default:
                guard let number = Int(text), (1...1_000_000).contains(number) else {
                    throw WrongValue("must be 'adaptive', 'none' or a whole number from 1 to 1000000")
                }
                draft.steps.concurrency = .fixed(number)
            }
        },
        .integer("resilience.concurrency.maximum", default: "1000", in: 1...1_000_000, \.steps.maximumConcurrency),
        .integer("resilience.concurrency.initial", default: "100", in: 1...1_000_000, \.steps.initialConcurrency),
        .integer("resilience.concurrency.maximumQueued", default: "1000", in: 0...1_000_000, \.steps.maximumQueued),
        .time("resilience.concurrency.maximumWait", default: "250 ms", from: "0 s", \.steps.maximumWait),
        .text("resilience.rate.limit", "1 to 1000000") { draft, text in
            guard let number = Int(text), (1...1_000_000).contains(number) else {
                throw WrongValue("must be a whole number from 1 to 1000000")
            }
            draft.steps.rate = number
        },
        .time("resilience.rate.period", default: "1 s", \.steps.ratePeriod).needing("resilience.rate.limit"),
        .integer("resilience.rate.burst", default: "1", in: 1...1_000_000, \.steps.rateBurst)
            .needing("resilience.rate.limit"),
        .time("resilience.rate.maximumWait", default: "1 s", from: "0 s", \.steps.rateWait)
            .needing("resilience.rate.limit"),
        .text("resilience.hedging.percentile", "above 0, below 1") { draft, text in
            guard let share = Double(text), share > 0, share < 1 else {
                throw WrongValue("must be a number above 0 and below 1, such as 0.95")
            }
            draft.steps.hedgingPercentile = share
        },
        .flag("resilience.breaker.enabled", default: true, \.steps.hasBreaker),
        .share("resilience.breaker.failureRatio", default: "0.5", \.steps.breaker.failureRatio)
            .needing("resilience.breaker.enabled"),
        .integer(
            "resilience.breaker.minimumOutcomes", default: "20", in: 1...1_000_000, \.steps.breaker.minimumOutcomes
        ).needing("resilience.breaker.enabled"),
        .time("resilience.breaker.window", default: "10 s", \.steps.breaker.window)
            .needing("resilience.breaker.enabled"),
        .time("resilience.breaker.firstBreakTime", default: "1 s", \.steps.breaker.firstBreakTime)
            .needing("resilience.breaker.enabled"),
        .time("resilience.breaker.breakTime", default: "5 s", \.steps.breaker.breakTime)
            .needing("resilience.breaker.enabled"),
        .integer("resilience.breaker.probes", default: "1", in: 1...1_000, \.steps.breaker.probes)
            .needing("resilience.breaker.enabled"),
    ]
}
