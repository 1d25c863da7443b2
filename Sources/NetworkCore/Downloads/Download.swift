/// A download under way: a sequence of its progress, and the file at the end.
///
/// ```swift
/// let download = try client.startDownload(of: request, to: "/var/lib/app/model.bin")
/// for try await progress in download { print(progress.fraction ?? 0) }
/// print(try await download.response.value.bytes)
/// ```
///
/// The sequence ends when the file is there, or throws what the download failed with. A reader that is slow misses
/// steps in between and slows nothing down. Iterate it once. A download that nobody holds any longer is cancelled.
public final class Download: AsyncSequence, Sendable {
    /// How far it is.
    public typealias Element = TransferProgress

    private let task: Task<Response<DownloadedFile>, any Error>
    private let steps: AsyncStream<TransferProgress>

    init(_ start: @Sendable (@escaping @Sendable (TransferProgress) -> Void) throws -> DownloadRun) throws {
        let (steps, continuation) = AsyncStream<TransferProgress>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let run = try start { continuation.yield($0) }
        self.steps = steps
        task = Task {
            defer { continuation.finish() }
            return try await run.run()
        }
    }

    deinit { task.cancel() }

    /// The file, once it is there. Cancelling the task that waits cancels the download.
    /// - Throws: ``NetworkError``.
    public var response: Response<DownloadedFile> {
        get async throws {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }

    /// Ends it. What has arrived is kept where it can be resumed.
    public func cancel() { task.cancel() }

    /// Follows its progress.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(download: self, steps: steps.makeAsyncIterator())
    }

    /// The progress of a download.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let download: Download
        fileprivate var steps: AsyncStream<TransferProgress>.AsyncIterator

        /// The next step that is known; `nil` when the file is there.
        /// - Throws: What the download failed with.
        public mutating func next() async throws -> TransferProgress? {
            if let step = await steps.next() { return step }
            _ = try await download.response
            return nil
        }
    }
}
