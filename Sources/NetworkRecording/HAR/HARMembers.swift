import FoundationEssentials
import NetworkCore

/// The name of a member of a HAR document. Those of this library's own begin with an underscore, as HAR has it.
struct HARKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringLiteral text: String) { stringValue = text }
    init(stringValue text: String) { stringValue = text }
    init?(intValue: Int) { nil }
}

/// The members of an object that is read. One that is `null` is absent.
typealias HARMembers = KeyedDecodingContainer<HARKey>

/// A header field, a parameter of a query or of a form.
struct HARPair: Decodable {
    let name: String
    let value: String?
}

extension HARMembers {
    /// About 30 years.
    private static let maximumMilliseconds = 1e12
    private static let maximumSize = Double(1 << 48)
    /// The most fields in one head.
    private static let maximumFields = 10_000

    func value<Value: Decodable>(_ key: HARKey) throws -> Value? { try decodeIfPresent(Value.self, forKey: key) }

    func object(_ key: HARKey) throws -> HARMembers? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        return try nestedContainer(keyedBy: HARKey.self, forKey: key)
    }

    func fault(_ key: HARKey, _ problem: String) -> DecodingError {
        .dataCorruptedError(forKey: key, in: self, debugDescription: problem)
    }

    /// Reads a time in milliseconds; `nil` for one below zero: `-1` is unknown, and a browser's clock may be set back.
    func time(_ key: HARKey) throws -> Duration? { try (value(key) as Double?).flatMap { try time($0, key) } }

    func time(_ value: Double, _ key: HARKey) throws -> Duration? {
        guard value.isFinite, value <= Self.maximumMilliseconds else {
            throw fault(key, "not a number of milliseconds up to \(Int(Self.maximumMilliseconds))")
        }
        return value < 0 ? nil : .microseconds(Int((value * 1000).rounded()))
    }

    /// Reads a number of bytes; `nil` for `-1`, which is unknown.
    func size(_ key: HARKey) throws -> Int? { try (value(key) as Double?).flatMap { try size($0, key) } }

    func size(_ value: Double, _ key: HARKey) throws -> Int? {
        guard (-1...Self.maximumSize).contains(value), let size = Int(exactly: value) else {
            throw fault(key, "not a whole number from -1 to \(Int(Self.maximumSize))")
        }
        return size < 0 ? nil : size
    }

    /// Reads header fields without the pseudo fields of HTTP/2, such as `:authority`.
    func fields(_ key: HARKey) throws -> HTTPFields? {
        guard let pairs: [HARPair] = try value(key) else { return nil }
        var fields = HTTPFields()
        for (index, pair) in pairs.enumerated() where pair.name.utf8.first != UInt8(ascii: ":") {
            guard let name = HTTPField.Name(pair.name), let value = pair.value else {
                throw fault(key, "number \(index) is not a header field")
            }
            // Chrome writes repeated fields as lines of one.
            for line in value.split(atByte: 0x0A) {
                guard fields.count < Self.maximumFields else {
                    throw fault(key, "number \(index) is beyond \(Self.maximumFields) fields")
                }
                fields.append(HTTPField(name: name, value: String(line)))
            }
        }
        return fields
    }

    /// Reads the body of a response, or the `postData` of a request.
    func body() throws -> Recording.Body {
        let (size, omitted) = (try size("size"), try size("_omitted"))
        guard let text: String = try value("text") else { return Recording.Body(omitted: omitted ?? size ?? 0) }
        guard (try value("encoding") as String?)?.lowercasedASCII == "base64" else {
            return Recording.Body(Data(text.utf8), omitted: omitted ?? 0)
        }
        guard let bytes = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
            throw fault("text", "not Base64")
        }
        return Recording.Body(bytes, omitted: omitted ?? 0)
    }

    /// Reads the type of a body whose header fields have none: without it, secrets of a form are not found.
    func mediaType() throws -> String? {
        let type: String = try value("mimeType") ?? ""
        return ["", "x-unknown", "application/octet-stream"].contains(type.lowercasedASCII) ? nil : type
    }
}

extension TransportMetrics {
    // Key paths are no Sendable values, so these are not stored.
    static var durations: [(HARKey, WritableKeyPath<Self, Duration?>)] {
        [
            ("queued", \.queued), ("nameLookup", \.nameLookup), ("connect", \.connect), ("tls", \.tls),
            ("firstByte", \.firstByte),
        ]
    }

    static var texts: [(HARKey, WritableKeyPath<Self, String?>)] {
        [
            ("httpVersion", \.httpVersion), ("tlsVersion", \.tlsVersion), ("tlsCipher", \.tlsCipher),
            ("remoteAddress", \.remoteAddress), ("localAddress", \.localAddress),
        ]
    }

    static var counts: [(HARKey, WritableKeyPath<Self, Int?>)] {
        [
            ("resends", \.resends), ("repeats", \.repeats), ("requestBodyBytes", \.requestBodyBytes),
            ("responseWireBytes", \.responseWireBytes), ("responseBodyBytes", \.responseBodyBytes),
        ]
    }
}
