import FoundationEssentials
import NetworkCore

/// A reader for HAR 1.2 documents, of this library and of browsers. Members that it does not know are ignored.
enum HARReader {
    /// The maximum number of values, arrays and objects in a document. Each takes memory of its own.
    static let maximumValues = 16_777_216
    private static let maximumEntries = 1_000_000

    /// Returns the recording in a document.
    /// - Throws: ``NetworkError/Code/invalidRecording``, which names the place.
    static func recording(in document: Data, maximumBytes: Int) throws -> Recording {
        guard document.count <= maximumBytes else {
            throw NetworkError.invalidRecording("it has more than \(maximumBytes) bytes")
        }
        var bytes = [UInt8](document)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        guard valueCount(of: bytes) <= maximumValues else {
            throw NetworkError.invalidRecording("it has more than \(maximumValues) values")
        }
        let value: JSONValue
        do {
            value = try JSONParser.parse(bytes, allowsRepeatedKeys: true)
        } catch let problem as JSONProblem {
            let line = bytes[..<min(problem.offset, bytes.count)].count { $0 == 0x0A } + 1
            throw NetworkError.invalidRecording("\(problem.message), at byte \(problem.offset) in line \(line)")
        }
        guard case .object = value else { throw NetworkError.invalidRecording("it is \(value.kind), not an object") }
        let log = try HARNode(value: value, path: "").required("log")
        var recording = Recording()
        recording.entries = try log.required("entries").array(upTo: maximumEntries).map { try HAREntryReader.entry($0) }
        recording.isIncomplete = try log.optional("_incomplete")?.bool() ?? false
        return recording
    }

    /// Returns the number of values of a text of JSON, before they take memory.
    static func valueCount(of bytes: [UInt8]) -> Int {
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
}
