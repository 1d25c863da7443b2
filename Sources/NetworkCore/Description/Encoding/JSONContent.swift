public import FoundationEssentials

extension RequestContent {
    /// A value as JSON.
    /// - Parameters:
    ///   - value: What to encode. A part that can't be encoded fails the request with
    ///     ``NetworkError/Code/invalidParameters``, which names the place.
    ///   - encoder: How; by default keys are sorted, and dates are as `JSONEncoder` writes them unless told otherwise.
    public static func json(
        _ value: some Encodable & Sendable,
        encoder: JSONEncoder = JSON.standardEncoder
    ) -> RequestContent {
        RequestContent(JSON { try encoder.encode(value) })
    }

    /// Parameters as a JSON object, as a request's own parameters are with POST.
    public static func json(
        parameters: [String: ParameterValue],
        conventions: RequestData.Conventions = .standard
    ) -> RequestContent {
        RequestContent(
            JSON {
                for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
                    if let problem = value.firstProblem(at: name) { throw problem }
                }
                // Left as it is, a moment writes itself by the standard convention.
                let written =
                    conventions.dates == .iso8601
                    ? parameters : parameters.mapValues { $0.writingDates(as: conventions.dates) }
                return try JSON.standardEncoder.encode(written)
            }
        )
    }
}

extension RequestContent {
    /// Encodes JSON: `Content-Type: application/json`.
    public struct JSON: ContentEncoder {
        /// Sorted keys, so that equal values have equal bytes; `/` as it is.
        public static var standardEncoder: JSONEncoder {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return encoder
        }

        private let bytes: @Sendable () throws -> Data

        init(_ bytes: @escaping @Sendable () throws -> Data) { self.bytes = bytes }

        /// The bytes.
        /// - Throws: ``NetworkError/Code/invalidParameters`` that names the place.
        public func encode() throws -> Encoded {
            do {
                return Encoded(.bytes(try bytes()), type: "application/json")
            } catch EncodingError.invalidValue(_, let context) {
                // The value itself may be a secret, and is left out.
                let place = context.codingPath.reduce(into: "") { path, key in
                    path += key.intValue.map { "[\($0)]" } ?? (path.isEmpty ? key.stringValue : ".\(key.stringValue)")
                }
                throw NetworkError(
                    .invalidParameters,
                    "the JSON body can't be encoded at '\(place)'",
                    phase: .preparing
                )
            }
        }
    }
}
