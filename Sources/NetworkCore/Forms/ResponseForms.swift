public import FoundationEssentials
import HTTPTypes

extension ResponseForm where Body == TransportResponse.Body {
    /// The body as it arrives, chunk by chunk, from the moment the head is there and whatever the status:
    /// ``NetworkClient/validation`` does not apply.
    public static var stream: ResponseForm<TransportResponse.Body> {
        ResponseForm { prepared in
            let arrival = try await prepared.arrival()
            return arrival.streamed(arrival.incoming.body.naming { arrival.naming($0) })
        }
    }
}

extension ResponseForm where Body == ResponseLines {
    /// The lines of a text as they arrive, each of at most 1 MiB.
    public static var lines: ResponseForm<ResponseLines> { lines() }

    /// Returns the form of the lines of a text as they arrive.
    /// - Parameters:
    ///   - invalid: The treatment of bytes that are not text in the charset of the Content-Type.
    ///   - maximumLineBytes: The limit on a line, in bytes, 1 or more. Default: 1 MiB. A longer line ends the sequence
    ///     with ``NetworkError/Code/lineTooLong``.
    public static func lines(
        invalid: ResponseLines.InvalidText = .refused, maximumLineBytes: Int = 1 << 20
    ) -> ResponseForm<ResponseLines> {
        ResponseForm { prepared in
            try OptionCheck.atLeast(1, maximumLineBytes, "maximumLineBytes")
            let arrival = try await prepared.arrival()
            try await arrival.validate()
            do {
                let charset = try Charset(of: arrival.head)
                return arrival.streamed(
                    ResponseLines(arrival: arrival, charset: charset, invalid: invalid, limit: maximumLineBytes))
            } catch {
                throw arrival.naming(error)
            }
        }
    }
}

extension ResponseForm {
    /// Returns the form of the values of JSON lines (one JSON text per line) as they arrive.
    /// - Parameters:
    ///   - type: The type of each line's value.
    ///   - decoder: The decoder of a line. Default: the client's (``NetworkClient/decoder``).
    ///   - maximumLineBytes: The limit on a line, in bytes, 1 or more. Default: 1 MiB. A longer line ends the sequence
    ///     with ``NetworkError/Code/lineTooLong``.
    public static func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type, by decoder: (any ResponseDecoder)? = nil, maximumLineBytes: Int = 1 << 20
    ) -> ResponseForm where Body == JSONLines<Value> {
        ResponseForm { prepared in
            try OptionCheck.atLeast(1, maximumLineBytes, "maximumLineBytes")
            let arrival = try await prepared.arrival()
            try await arrival.validate()
            let lines = JSONLines<Value>(
                arrival: arrival, decoder: decoder ?? prepared.client.decoder, limit: maximumLineBytes)
            return arrival.streamed(lines)
        }
    }
}

extension ResponseForm where Body == ServerSentEvents {
    /// Server-sent events with automatic reconnection; see ``ServerSentEvents``.
    public static var events: ResponseForm<ServerSentEvents> { events(ServerSentEvents.Options()) }

    /// Returns the form of server-sent events with automatic reconnection; see ``ServerSentEvents``.
    ///
    /// The request has `Accept: text/event-stream` and `Cache-Control: no-cache`, unless it has its own, and
    /// ``TransportOptions/totalTimeout`` does not apply, since a stream of events has no end of its own.
    /// - Parameter options: The options for the stream and its reconnections.
    public static func events(_ options: ServerSentEvents.Options) -> ResponseForm<ServerSentEvents> {
        ResponseForm(
            isEndless: true, fields: { _ in [.accept: "text/event-stream", .cacheControl: "no-cache"] }
        ) { prepared in
            try options.check()
            return try await ServerSentEvents.Connection.first(of: prepared, options)
        }
    }
}

extension ResponseForm where Body == DownloadedFile {
    /// Returns the form of a file, which appears under its name once it is complete and on the disk, or not at all.
    ///
    /// Arriving bytes are written to `PATH.partial`, next to the file. An interrupted download leaves this file and
    /// `PATH.partial.json`, which holds the URL (without its query) and the version of the representation. The next
    /// download from there to the same path requests the rest, if the server still has the same version, and starts
    /// again otherwise. `PATH.partial` is locked while a download uses it: a second download to the same path fails.
    /// Files of these names that no download left there stay unchanged, and the call fails with
    /// ``NetworkError/Code/unwritableFile``, which names the file.
    ///
    /// ``NetworkClient/validation`` checks a resumed download as the whole that it stands for, with the content type of
    /// the first response if the last one names none. The returned response is the last one, unchanged.
    ///
    /// A response without content (204, 205, 304), if it is accepted at all, is ``NetworkError/Code/noData``, and a
    /// request with HEAD is ``NetworkError/Code/unsupported``: the file stays as it was. A 200 of no bytes is an empty
    /// file. Resumable downloads request no compression, and a response that is compressed all the same is
    /// ``NetworkError/Code/invalidContentEncoding``. ``TransportOptions/totalTimeout`` covers all exchanges together,
    /// and writing; the final sync to the disk is not interrupted.
    ///
    /// In addition to the transport's errors, the call throws ``NetworkError/Code/unwritableFile``,
    /// ``NetworkError/Code/diskFull``, ``NetworkError/Code/checksumMismatch``, and the errors of
    /// ``NetworkClient/validation``, with at most 64 KiB of the response's body.
    /// - Parameters:
    ///   - path: The file's path. Its folder must exist.
    ///   - options: The options for writing, checking and resuming the file.
    public static func file(
        _ path: String, options: DownloadedFile.Options = DownloadedFile.Options()
    ) -> ResponseForm<DownloadedFile> {
        ResponseForm { try await DownloadRun($0, path: path, options: options).run() }
    }
}

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
                let charset = try Charset(of: response.head)
                let text = try charset.text(of: response.body, invalid: invalid, "the body")
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
