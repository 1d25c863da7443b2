import Dispatch
import FoundationEssentials
import HTTPTypes
import Synchronization

struct DownloadRun: Sendable {
    let prepared: PreparedCall
    let path: String
    let options: DownloadedFile.Options
    private var request: TransportRequest { prepared.request }
    private var call: NetworkClient.Call { prepared.call }

    init(_ prepared: PreparedCall, path: String, options: DownloadedFile.Options) throws {
        try options.check()
        guard prepared.request.method != .head else {
            throw NetworkError.refused(
                .unsupported, "a response to HEAD has no content that could be downloaded into a file")
        }
        self.prepared = prepared
        self.path = path
        self.options = options
    }

    /// Ranges have a meaning only for GET, and a caller that requests a range of its own wants that part and no other.
    private var canResume: Bool {
        options.resumes && request.method == .get && request.body == nil && !request.headerFields.contains(.range)
    }

    func run() async throws -> NetworkResponse<DownloadedFile> {
        let file = try await BlockingFile(path, options)
        do {
            let (arrival, start) = try await fetch(into: file)
            let (sum, length) = try await file.perform { ($0.sum(), $0.length) }
            if let expected = options.checksum, sum != expected.hexadecimal {
                throw arrival.naming(
                    NetworkError(
                        .checksumMismatch,
                        "the checksum of the download is \(sum ?? ""), and \(expected.hexadecimal) was expected; "
                            + "the download was deleted", phase: .decoding))
            }
            let finalPath = try await file.perform { file in
                try file.finish()
                return file.path
            }
            return arrival.ended(
                DownloadedFile(path: finalPath, bytes: length, resumedFrom: start, checksum: sum)
            )
        } catch {
            let isUsable = canResume && ![.checksumMismatch, .bodyTooLarge].contains((error as? NetworkError)?.code)
            // Only the first error is reported.
            try? await file.perform { try $0.giveUp(isUsable: isUsable) }
            throw error
        }
    }

    private func fetch(into file: BlockingFile) async throws -> (Arrival, resumedFrom: Int) {
        var (retries, failuresInARow, hasBegun) = (0, 0, false)
        var mayResume = canResume
        while true {
            let plan = try await plan(for: file, mayResume: mayResume)
            let before = try await file.perform(\.length)
            var arrived = false
            do {
                let request = request(by: plan)
                let arrival = try await prepared.arrival(of: request, in: call)
                switch plan.reaction(to: arrival.head, from: arrival.source) {
                case .startAgain:
                    mayResume = false
                    continue
                case .isComplete:
                    try await arrival.validate(as: plan.whole(of: arrival.head))
                    try await resume(file)
                    do { try checkLength(before) } catch { throw arrival.naming(error) }
                    return (arrival, before)
                case .append(let total):
                    try await arrival.validate(as: plan.whole(of: arrival.head))
                    try await resume(file)
                    try await write(arrival, to: file, total: total) { arrived = true }
                    return (arrival, before)
                case .writeWhole:
                    try await checkWhole(arrival, of: request)
                    let record = canResume ? PartialRecord(of: arrival.head, for: request, from: arrival.source) : nil
                    try await file.perform { try $0.restart(as: record) }
                    mayResume = canResume
                    // The announced length of a compressed body is not that of the file.
                    let isOther = arrival.head.headerFields[.contentEncoding] != nil
                    try await write(arrival, to: file, total: isOther ? nil : arrival.head.wholeLength) {
                        arrived = true
                    }
                    return (arrival, 0)
                }
            } catch let error as NetworkError where error.isConnectionLoss {
                // A connection that breaks before any byte arrives is retried only if the download had begun.
                hasBegun = hasBegun || arrived
                failuresInARow = arrived ? 1 : failuresInARow + 1
                guard hasBegun, retries < options.maximumRetries, isRepeatable else { throw error }
                retries += 1
                call.beginRetry()
                call.count(repeats: error.exchange?.repeats)
                let backOff = BackOff(first: options.retryDelay, limit: .seconds(30))
                let delay = backOff.delay(after: failuresInARow, jitter: options.time.random() / 4)
                try await options.time.sleep(min(delay, call.remaining ?? delay))
            }
        }
    }

    private func request(by plan: ResumePlan) -> TransportRequest {
        var request = request
        plan.apply(to: &request)
        // Offsets are those of the file only if no coding changes its bytes.
        if canResume, !request.headerFields.contains(.acceptEncoding) {
            request.headerFields[.acceptEncoding] = "identity"
        }
        return request
    }

    private func checkWhole(_ arrival: Arrival, of request: TransportRequest) async throws {
        try await arrival.validate()
        guard ![204, 205, 304].contains(arrival.head.status.code) else {
            let words = "the response (\(arrival.head.status.code)) has no content for the file, which stays as it was"
            throw arrival.refusing(arrival.ended(Data()), for: NetworkError(.noData, words, phase: .receiving))
        }
        // Length, offsets and checksum would be those of the encoded bytes.
        guard request.asked(forEncodingOf: arrival.head) else {
            throw arrival.naming(
                NetworkError(
                    .invalidContentEncoding,
                    "the server sent the file in an encoding that was not requested; 'decompress = false' keeps it "
                        + "unchanged", phase: .receiving))
        }
        // The part that the download itself asked for is never the whole.
        let isPartWanted =
            self.request.headerFields.contains(.range)
            || !request.headerFields.contains(.range) && arrival.asksForPart()
        if arrival.head.status == .partialContent, !isPartWanted {
            let part = NetworkError.refusedStatus(arrival.head.status, "the whole was")
            throw arrival.refusing(arrival.ended(Data()), for: part)
        }
    }

    private var isRepeatable: Bool {
        request.method == .get && request.body?.isReplayable ?? true
    }

    private func plan(for file: BlockingFile, mayResume: Bool) async throws -> ResumePlan {
        let url = request.url
        return try await file.perform { file in
            let record = mayResume ? file.record : nil
            return ResumePlan(length: file.length, record: record?.isOf(url) == true ? record : nil)
        }
    }

    /// Resumes after the bytes in the file, within the call's time.
    private func resume(_ file: BlockingFile) async throws {
        let isCancelled = OneTimeFlag()
        try await withTaskCancellationHandler {
            try await file.perform { file in
                // Code on the file's queue can't see the task's cancellation.
                try file.resume { () throws(NetworkError) in
                    if isCancelled.isRaised { throw NetworkError.cancelled }
                    try call.check(while: .receiving)
                }
            }
        } onCancel: {
            _ = isCancelled.raise()
        }
    }

    private func checkLength(_ length: Int) throws {
        guard length > options.maximumBytes else { return }
        throw NetworkError(
            .bodyTooLarge, "the file is larger than the limit of \(options.maximumBytes) bytes (maximumBytes)",
            phase: .receiving)
    }

    private static let pieceBytes = 262_144

    private func write(
        _ arrival: Arrival,
        to file: BlockingFile,
        total: Int?,
        arrived: () -> Void
    ) async throws {
        do {
            var length = try await file.perform(\.length)
            options.progress?(TransferProgress(completed: length, total: total))
            for try await chunk in arrival.incoming.body {
                try call.check(while: .receiving)
                try checkLength(length + chunk.count)
                // One chunk may be as large as a whole body.
                for start in stride(from: 0, to: chunk.count, by: Self.pieceBytes) {
                    if start > 0 { try call.check(while: .receiving) }
                    let piece = chunk.dropFirst(start).prefix(Self.pieceBytes)
                    try await file.perform { try $0.append(piece) }
                    arrived()
                    length += piece.count
                    options.progress?(TransferProgress(completed: length, total: total))
                }
            }
            try call.check(while: .receiving)
            if let total, total != length {
                throw NetworkError(
                    .truncatedBody,
                    "the file has \(length) bytes, and \(total) were announced",
                    phase: .receiving
                )
            }
        } catch {
            throw arrival.naming(error)
        }
    }
}

/// A partial file whose work is done on a queue of its own.
private final class BlockingFile: Sendable {
    private let queue: DispatchQueue
    private let file: Guarded<PartialFile>

    init(_ path: String, _ options: DownloadedFile.Options) async throws {
        queue = DispatchQueue(label: "NetworkLayer.Download")
        let opened = try await queue.perform {
            try PartialFile(for: path, permissions: options.permissions, checksum: options.checksum?.make)
        }
        file = Guarded(opened)
    }

    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (inout PartialFile) throws -> Value
    ) async throws -> Value {
        try await queue.perform { try self.file.withLock { try body(&$0) } }
    }
}

extension TransportRequest {
    /// Whether a response's body has only encodings that the request accepts.
    func asked(forEncodingOf head: HTTPResponse) -> Bool {
        guard options.decompress else { return true }
        let asked = Self.encodings(wireFields[values: .acceptEncoding])
        return Self.encodings(head.headerFields[values: .contentEncoding]).allSatisfy { name in
            name == "identity" || asked.contains(name) || asked.contains("*")
                || name == "x-gzip" && asked.contains("gzip")
        }
    }

    /// Returns the encodings that header fields name, without those excluded by a weight of 0.
    private static func encodings(_ values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",") }.compactMap { value in
            let parts = value.lowercased().filter { $0 != " " && $0 != "\t" }.split(separator: ";")
            let isRefused = parts.dropFirst().contains { $0.hasPrefix("q=") && Double($0.dropFirst(2)) == 0 }
            return isRefused ? nil : parts.first.map(String.init)
        }
    }
}
