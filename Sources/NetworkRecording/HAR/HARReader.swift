import FoundationEssentials
import NetworkCore

/// A reader for HAR 1.2 documents, of this library and of browsers. Members that it does not know are ignored.
enum HARReader {
    /// The maximum number of values, arrays and objects in a document. Each takes memory of its own.
    static let maximumValues = 16_777_216
    private static let maximumEntries = 1_000_000

    private struct Document: Decodable {
        struct Log: Decodable {
            let entries: [HAREntry]
            let isIncomplete: Bool?

            private enum CodingKeys: String, CodingKey {
                case entries
                case isIncomplete = "_incomplete"
            }
        }

        let log: Log
    }

    /// Returns the recording in a document.
    /// - Throws: ``NetworkError/Code/invalidRecording``, which names the place.
    static func recording(in document: Data, maximumBytes: Int) throws -> Recording {
        guard document.count <= maximumBytes else {
            throw NetworkError.invalidRecording("it has more than \(maximumBytes) bytes")
        }
        guard valueCount(of: document) <= maximumValues else {
            throw NetworkError.invalidRecording("it has more than \(maximumValues) values")
        }
        do {
            let log = try JSONDecoder().decode(Document.self, from: document).log
            guard log.entries.count <= maximumEntries else {
                throw NetworkError.invalidRecording("it has more than \(maximumEntries) entries")
            }
            var recording = Recording()
            recording.isIncomplete = log.isIncomplete ?? false
            recording.entries = try log.entries.enumerated().map { index, entry in
                do { return try entry.recorded() } catch let fault as HARFault {
                    throw NetworkError.invalidRecording("log.entries[\(index)].\(fault.place) \(fault.problem)")
                }
            }
            return recording
        } catch let error as DecodingError {
            throw NetworkError.invalidRecording(text(of: error))
        }
    }

    /// Returns the number of values of a text of JSON, before they take memory.
    static func valueCount(of bytes: some Sequence<UInt8>) -> Int {
        var (count, isString, isEscaped) = (0, false, false)
        for byte in bytes {
            if isEscaped {
                isEscaped = false
            } else if isString {
                if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isString = false
                }
            } else {
                switch byte {
                case UInt8(ascii: "\""): isString = true
                case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"): count += 1
                default: break
                }
            }
        }
        return count
    }

    private static func text(of error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): "\(place(context)) has no member '\(key.stringValue)'"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            "\(place(context)): \(context.debugDescription)"
        @unknown default: "it is no HAR document"
        }
    }

    /// Returns the path of a value: `log.entries[3].response.status`.
    private static func place(_ context: DecodingError.Context) -> String {
        var path = ""
        for key in context.codingPath {
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += (path.isEmpty ? "" : ".") + key.stringValue
            }
        }
        return path.isEmpty ? "the document" : path
    }
}

/// A value of an entry that can't be used.
struct HARFault: Error {
    let place: String
    let problem: String

    /// About 30 years.
    private static let maximumMilliseconds = 1e12
    private static let maximumSize = Double(1 << 48)

    /// Returns a time in milliseconds; `nil` for one below zero, which stands for an unknown one.
    static func time(_ value: Double?, _ place: String) throws -> Duration? {
        guard let value else { return nil }
        guard value.isFinite, value <= maximumMilliseconds else {
            throw HARFault(place: place, problem: "is not a number of milliseconds up to \(Int(maximumMilliseconds))")
        }
        // A browser may have read a clock that was set back.
        return value < 0 ? nil : .microseconds(Int((value * 1000).rounded()))
    }

    /// Returns a number of bytes; `nil` for `-1`, which HAR writes for an unknown one.
    static func size(_ value: Double?, _ place: String) throws -> Int? {
        guard let value else { return nil }
        guard (-1...maximumSize).contains(value), let size = Int(exactly: value) else {
            throw HARFault(place: place, problem: "is not a whole number from -1 to \(Int(maximumSize))")
        }
        return size < 0 ? nil : size
    }

    /// Returns the bytes of a text, which may be in Base64.
    static func bytes(_ text: String, isBase64: Bool, _ place: String) throws -> Data {
        guard isBase64 else { return Data(text.utf8) }
        guard let bytes = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
            throw HARFault(place: place, problem: "is not Base64")
        }
        return bytes
    }
}

extension NetworkError {
    /// Returns the error for a document that can't be used.
    static func invalidRecording(_ problem: String) -> NetworkError {
        NetworkError(.invalidRecording, "the recording can't be read: \(problem)", phase: .preparing)
    }
}
