import HTTPTypes

extension ResponseForm where Body == TransportResponse.Body {
    /// The body on its way, chunk by chunk, as soon as the head is there and whatever the status:
    /// ``NetworkClient/validation`` is not applied.
    public static var stream: ResponseForm<TransportResponse.Body> {
        ResponseForm { prepared in
            let arrival = try await prepared.arrival()
            return arrival.streamed(arrival.incoming.body)
        }
    }
}

extension ResponseForm where Body == ResponseLines {
    /// The lines of a text on its way, each of 1 MiB at most.
    public static var lines: ResponseForm<ResponseLines> { lines() }

    /// The lines of a text on its way.
    /// - Parameters:
    ///   - invalid: What happens to bytes that are no text in the charset of Content-Type.
    ///   - maximumLineBytes: The longest line, in bytes; a longer one ends the sequence with
    ///     ``NetworkError/Code/lineTooLong``. 1 MiB by default.
    public static func lines(
        invalid: ResponseLines.InvalidText = .refused, maximumLineBytes: Int = 1 << 20
    ) -> ResponseForm<ResponseLines> {
        ResponseForm { prepared in
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
    /// The values of JSON lines (one JSON text a line) on their way.
    /// - Parameters:
    ///   - type: The type of each line's value.
    ///   - decoder: What decodes a line; the client's (``NetworkClient/decoder``) if none is given.
    ///   - maximumLineBytes: The longest line, in bytes; a longer one ends the sequence with
    ///     ``NetworkError/Code/lineTooLong``. 1 MiB by default.
    public static func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type, by decoder: (any ResponseDecoder)? = nil, maximumLineBytes: Int = 1 << 20
    ) -> ResponseForm where Body == JSONLines<Value> {
        ResponseForm { prepared in
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

    /// Server-sent events with automatic reconnection; see ``ServerSentEvents``.
    ///
    /// `Accept: text/event-stream` and `Cache-Control: no-cache` go along unless the request has its own, and
    /// ``TransportOptions/totalTimeout`` is not applied, since a stream of events has no end of its own.
    /// - Parameter options: How the stream is kept up.
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
    /// A file, which appears under its name when it is complete and on the disk, or not at all.
    ///
    /// What arrives is written to `PATH.partial`, next to the file. An interrupted download leaves that, with
    /// `PATH.partial.json`, which names the URL (without its query) and the version of what was downloaded; the next
    /// download from there to the same path asks for the rest, if the server still has the same version, and starts
    /// again otherwise. A part of another version, which a server sends in spite of that, is not taken: a part must
    /// have the entity tag that the first response had. Both are locked while a download uses them: a second one to
    /// the same path fails. Files of these names that no download has left stay as they are, and the call fails with
    /// ``NetworkError/Code/unwritableFile``, which names the file.
    ///
    /// ``NetworkClient/validation`` judges a resumption as the whole that it stands for: a 206, and a 416 that says
    /// that nothing is missing, count as a 200, with the content type of the first response where they name none (for a
    /// 416, whose page is no part of the file, in any case). The response that is returned is the last one as it came.
    ///
    /// A response without content (204, 205, 304), if it is accepted at all, is ``NetworkError/Code/noData``, and a
    /// request with HEAD is ``NetworkError/Code/unsupported`` before anything is sent: the file stays as it was. A 200
    /// of no bytes is an empty file.
    ///
    /// Resumable downloads ask for no compression, and a response that is compressed all the same is refused with
    /// ``NetworkError/Code/invalidContentEncoding``. The file is replaced if it exists.
    ///
    /// ``TransportOptions/totalTimeout`` holds for all exchanges together, for writing, and for reading what was here
    /// before. Once everything is written, the disk may take its time to keep it: that is not interrupted.
    ///
    /// Besides the transport's errors the call throws ``NetworkError/Code/unwritableFile``,
    /// ``NetworkError/Code/diskFull``, ``NetworkError/Code/checksumMismatch``, and what ``NetworkClient/validation``
    /// refuses, with at most 64 KiB of the response's body.
    /// - Parameters:
    ///   - path: The file's path. Its folder must exist.
    ///   - options: How the file is written, checked and resumed.
    public static func file(
        _ path: String, options: DownloadedFile.Options = DownloadedFile.Options()
    ) -> ResponseForm<DownloadedFile> {
        ResponseForm { try await DownloadRun($0, path: path, options: options).run() }
    }
}
