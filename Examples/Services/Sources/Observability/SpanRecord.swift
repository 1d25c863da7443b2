import Foundation
import Tracing

/// A finished span, as it is kept and written. Its size is bounded, whatever the program adds to the span.
struct SpanRecord: Encodable, Sendable {
    /// What happened at a moment of the span: a phase, an error.
    struct Event: Encodable, Sendable {
        let name: String
        /// The time since the start of the span.
        let milliseconds: Double
        let attributes: [String: String]
    }

    /// A span of this or another trace that has to do with this one.
    struct Link: Encodable, Sendable {
        let traceID: String
        let spanID: String
        let attributes: [String: String]
    }

    let traceID: String
    let spanID: String
    /// The span that this one is part of, which may be another program's; `nil` for the first of the trace.
    let parentID: String?
    let name: String
    let kind: String
    /// In nanoseconds since 1970-01-01T00:00Z.
    let startUnixNano: UInt64
    let milliseconds: Double
    /// Whether it failed. A call that the program cancelled did not.
    let isError: Bool
    let message: String?
    let attributes: [String: String]
    let events: [Event]
    let links: [Link]

    /// The `error.type` of a call that its program gave up.
    static let cancelled = "cancelled"
    var isCancelled: Bool { attributes["error.type"] == Self.cancelled }

    var end: UInt64 { startUnixNano + UInt64(milliseconds * 1e6) }

    /// About what the span takes in memory.
    var bytes: Int {
        let texts = [name, message ?? ""].reduce(0) { $0 + $1.utf8.count }
        let more = events.map { $0.name.utf8.count + $0.attributes.bytes } + links.map(\.attributes.bytes)
        return 500 + texts + attributes.bytes + more.reduce(0) { $0 + 100 + $1 }
    }

    static let maximumEvents = 64
    static let maximumLinks = 16

    /// The JSON text in one line: Foundation escapes line feeds.
    var json: String { Self.json(self) }

    static func json(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            preconditionFailure("Records have texts and finite numbers only: \(error)")
        }
    }
}

extension [String: String] {
    private static var maximum: Int { 64 }

    /// The first 64 attributes by name, as texts.
    init(_ attributes: SpanAttributes) {
        var all: [(String, String)] = []
        attributes.forEach { all.append(($0.bounded, $1.text.bounded)) }
        self.init(all.sorted { $0 < $1 }.prefix(Self.maximum), uniquingKeysWith: { first, _ in first })
    }

    fileprivate var bytes: Int { reduce(0) { $0 + 50 + $1.key.utf8.count + $1.value.utf8.count } }
}

extension String {
    /// At most 1,000 characters of a text.
    var bounded: String { utf8.count <= 1_000 ? self : prefix(1_000) + "…" }
}

extension SpanAttribute {
    fileprivate var text: String {
        switch self {
        case .int32(let value): "\(value)"
        case .int64(let value): "\(value)"
        case .double(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .string(let value): value
        case .stringConvertible(let value): "\(value)"
        case .int32Array(let values): "\(values)"
        case .int64Array(let values): "\(values)"
        case .doubleArray(let values): "\(values)"
        case .boolArray(let values): "\(values)"
        case .stringArray(let values): "\(values)"
        case .stringConvertibleArray(let values): "\(values)"
        default: "?"
        }
    }
}
