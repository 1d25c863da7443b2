public import FoundationEssentials

extension NetworkClient {
    /// Downloads into a file, which appears under its name when it is complete and on the disk, or not at all.
    ///
    /// What arrives is written to `PATH.partial`, beside the file. An interrupted download leaves that, with
    /// `PATH.partial.json`, which names the URL (without its query) and the version of what was downloaded; the next
    /// download from there to the same path asks for the rest, if the server still has the same version, and starts
    /// again otherwise. Both are locked while a download uses them: a second one to the same path fails.
    ///
    /// Resumable downloads ask for no compression, and an answer that is compressed all the same is refused with
    /// ``NetworkError/Code/invalidContentEncoding``. The file is replaced if it exists.
    ///
    /// ``TransportOptions/totalTimeout`` holds for all exchanges together, for writing, and for summing up what was
    /// here before. Once everything is written, the disk may take its time to keep it: that is not interrupted.
    /// - Parameters:
    ///   - request: What to ask.
    ///   - path: Where the file is to be. Its folder must exist.
    ///   - options: How it is written, checked and resumed.
    /// - Throws: ``NetworkError``: ``NetworkError/Code/unwritableFile``, ``NetworkError/Code/diskFull``,
    ///   ``NetworkError/Code/checksumMismatch``, what ``validation`` refuses (with at most 64 KiB of the answer's
    ///   body), the transport's errors.
    public func download(
        _ request: some RequestConvertible,
        to path: String,
        options: DownloadOptions = DownloadOptions()
    ) async throws -> Response<DownloadedFile> {
        let call = Call(totalTimeout: self.options.totalTimeout)
        let outgoing = try encoded(request, in: call)
        return try await DownloadRun(client: self, request: outgoing, in: call, path: path, options: options).run()
    }

    /// The same for a request that is complete already; its own options count, not the client's.
    public func download(
        _ request: TransportRequest,
        to path: String,
        options: DownloadOptions = DownloadOptions()
    ) async throws -> Response<DownloadedFile> {
        let call = Call(totalTimeout: request.options.totalTimeout)
        return try await DownloadRun(client: self, request: request, in: call, path: path, options: options).run()
    }

    /// The same into a file that is named by a file URL.
    public func download(
        _ request: some RequestConvertible,
        to file: URL,
        options: DownloadOptions = DownloadOptions()
    ) async throws -> Response<DownloadedFile> {
        guard file.isFileURL else { throw OptionCheck.invalid("the download's file", "is not a file URL") }
        return try await download(request, to: file.path, options: options)
    }

    /// Begins a download whose progress can be followed; see ``Download``.
    /// - Throws: ``NetworkError`` for a request or options that can't be used. What goes wrong later is thrown by the
    ///   ``Download``.
    public func startDownload(
        of request: some RequestConvertible,
        to path: String,
        options: DownloadOptions = DownloadOptions()
    ) throws -> Download {
        let call = Call(totalTimeout: self.options.totalTimeout)
        let outgoing = try encoded(request, in: call)
        return try Download { report in
            var options = options
            let told = options.progress
            options.progress = { progress in
                told?(progress)
                report(progress)
            }
            return try DownloadRun(client: self, request: outgoing, in: call, path: path, options: options)
        }
    }
}
