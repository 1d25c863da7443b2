public import FoundationEssentials
import HTTPTypes

extension ResponseForm where Body == Data {
    /// The whole body as bytes, decompressed.
    public static var data: ResponseForm<Data> {
        ResponseForm { try await $0.arrival().collected() }
    }
}

extension ResponseForm where Body == String {
    /// The whole body as text, in the charset of its Content-Type: UTF-8 (also without one), ISO-8859-1 or US-ASCII.
    /// Bytes that are not text in that charset are ``NetworkError/Code/undecodableText``.
    ///
    /// An empty body is an empty text, not an error.
    public static var text: ResponseForm<String> { text(invalid: .refused) }

    /// Returns the form of the whole body as text.
    /// - Parameter invalid: The treatment of bytes that are not text in the charset of the Content-Type.
    public static func text(invalid: ResponseLines.InvalidText) -> ResponseForm<String> {
        ResponseForm { prepared in
            let arrival = try await prepared.arrival()
            let response = try await arrival.collected()
            let call = prepared.call
            do {
                try call.check(while: .decoding)
                let charset = try Charset(of: response.head)
                let text = try charset.text(of: response.body, invalid: invalid, "the body") {
                    try call.check(while: .decoding)
                }
                try call.check(while: .decoding)
                return response.replacing(text)
            } catch {
                throw arrival.refusing(response, for: error)
            }
        }
    }
}

extension ResponseForm where Body: Decodable & SendableMetatype {
    private static func decode(
        _ response: NetworkResponse<Data>, by decoder: any ResponseDecoder, within call: NetworkClient.Call
    ) throws -> sending Body {
        do {
            return try ResponseDecoding.decode(Body.self, from: response.body, of: response.readableHead, by: decoder)
        } catch {
            // What comes too late is a timeout, whatever it is.
            try call.check(while: .decoding)
            throw error
        }
    }

    /// Returns the form of a value that is decoded from the whole body.
    ///
    /// The request has the `Accept` of the decoder (``ResponseDecoder/accept``), unless it has its own.
    /// - Parameters:
    ///   - type: The type to decode. An optional type and ``Empty`` accept a response without a body.
    ///   - decoder: The decoder. Default: the client's (``NetworkClient/decoder``).
    public static func decoded(_ type: Body.Type, by decoder: (any ResponseDecoder)? = nil) -> ResponseForm<Body> {
        ResponseForm(
            fields: { client in (decoder ?? client.decoder).accept.map { [.accept: $0] } ?? [:] }
        ) { prepared in
            let arrival = try await prepared.arrival()
            let response = try await arrival.collected()
            let call = prepared.call
            do {
                // A decoder can't be interrupted.
                try call.check(while: .decoding)
                let value = try Self.decode(response, by: decoder ?? prepared.client.decoder, within: call)
                try call.check(while: .decoding)
                return response.replacing(value)
            } catch {
                throw arrival.refusing(response, for: error)
            }
        }
    }
}
