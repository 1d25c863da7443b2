import FoundationEssentials

/// A sequence of the lines of a text that is arriving.
///
/// ```swift
/// for try await line in try await client.send(request, as: .lines).body { print(line) }
/// ```
///
/// A line ends with LF, CR, or CR followed by LF; the last one may have no terminator. Iterate the sequence once. An
/// error ends it, and the exchange too.
public struct ResponseLines: AsyncSequence, Sendable {
    /// A line without its terminator.
    public typealias Element = String

    let arrival: Arrival
    let charset: Charset
    let invalid: InvalidText
    let limit: Int

    /// Returns an iterator that reads line by line.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            lines: BodyLines(arrival, endingWith: .any, limit: limit),
            charset: charset,
            invalid: invalid,
            arrival: arrival
        )
    }

    /// An iterator over the lines of a text.
    public struct AsyncIterator: AsyncIteratorProtocol, SafelyPrinted {
        fileprivate var lines: BodyLines
        fileprivate let charset: Charset
        fileprivate let invalid: InvalidText
        fileprivate let arrival: Arrival

        /// Returns the next line, or `nil` at the end.
        /// - Throws: ``NetworkError/Code/lineTooLong``, ``NetworkError/Code/undecodableText``, or the transport's
        ///   errors; `CancellationError` in a cancelled task.
        public mutating func next() async throws -> String? {
            guard let line = try await lines.next() else { return nil }
            do {
                // A byte order mark is one only at the start of the body; elsewhere it is a character.
                let hasMark = lines.number > 1 && charset == .utf8 && line.withoutMark.count < line.count
                let text = try charset.text(of: line, invalid: invalid, "line \(lines.number)")
                return hasMark ? "\u{FEFF}" + text : text
            } catch {
                await lines.end()
                throw NetworkError.thrown(arrival.naming(error))
            }
        }
    }
}

/// A sequence of the values of JSON lines that are arriving, with one JSON text per line.
///
/// ```swift
/// for try await user in try await client.send(request, as: .jsonLines(of: User.self)).body { print(user.name) }
/// ```
///
/// Lines of only white space are skipped. Iterate the sequence once.
public struct JSONLines<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    /// The value of a line.
    public typealias Element = Value

    let arrival: Arrival
    let decoder: any ResponseDecoder
    let limit: Int

    /// Returns an iterator that reads value by value.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            lines: BodyLines(arrival, endingWith: .lineFeed, limit: limit),
            decoder: decoder,
            arrival: arrival
        )
    }

    /// An iterator over the values of JSON lines.
    public struct AsyncIterator: AsyncIteratorProtocol, SafelyPrinted {
        fileprivate var lines: BodyLines
        fileprivate let decoder: any ResponseDecoder
        fileprivate let arrival: Arrival

        /// Returns the next value, or `nil` at the end.
        ///
        /// After a line that can't be decoded, the next call continues with the line after it.
        /// - Throws: ``NetworkError/Code/decodingFailed``, whose message names the line's number;
        ///   ``NetworkError/Code/lineTooLong``; the transport's errors; `CancellationError` in a cancelled task.
        public mutating func next() async throws -> Value? {
            while let line = try await lines.next() {
                if line.allSatisfy({ $0.isBlank || $0 == 0x0D }) { continue }
                do {
                    return try decoder.decode(Value.self, from: Data(line), of: arrival.head)
                } catch let error as NetworkError {
                    throw arrival.naming(error)
                } catch {
                    let place = "line \(lines.number)"
                    throw arrival.naming(NetworkError.decodingFailed(Value.self, Data(line), error, at: place))
                }
            }
            return nil
        }
    }
}
