public import FoundationEssentials
public import NetworkCore

/// A transport for tests: it records exchanges the first time, and replays them from then on.
///
/// ```swift
/// @Test func `all users are listed`() async throws {
///     let transport = try Cassette("Tests/AppTests/Fixtures/users.har", over: CurlNetworkDispatcher.shared)
///     let users = try await GetUsers().send(over: transport).body
///     #expect(users.map(\.name) == ["Ada", "Brendan", "Chris"])
///     try await transport.close()
/// }
/// ```
///
/// The environment variable `NETWORK_RECORD` decides: `once`, which is the default, replays the file if it exists and
/// else records it; `always` records it anew; `never` fails if it does not exist. To record one file anew, delete it. A
/// file of a test that ended before ``close()`` is not replayed, because exchanges may be missing in it: `once` records
/// it anew.
///
/// Secrets are left out of the file, see ``Recording/Entry/redactSecrets(in:bodies:)``; read it nevertheless before you
/// share it. Of a page, a text or a file, the body is recorded with `options: .init(bodies: .all)`.
public final class Cassette: HTTPTransport, NetworkDispatcher {
    private enum Content: Sendable {
        case recording(RecordingTransport, RecordingFile)
        case replay(ReplayTransport)
    }

    private let content: Content

    /// Opens a file.
    /// - Parameters:
    ///   - path: The path of the HAR file, relative to the working folder. With `swift test`, that is the package's. A
    ///     missing folder is made.
    ///   - transport: The transport to record.
    ///   - matching: The rule by which a request is the recorded one. Default: its method and URL.
    ///   - repeatsLast: Whether the last entry that matches a request is given again and again. Default: `false`.
    ///   - options: What is recorded, and how requests are compared with it. Default: the default options.
    ///   - mode: Whether to record. Default: `nil`, for what `NETWORK_RECORD` says.
    /// - Throws: ``NetworkCore/NetworkError/Code/invalidConfiguration`` for another value of `NETWORK_RECORD`; the code
    ///   `notRecorded` for a file that does not exist and must not be made; the code `invalidRecording`, with `never`
    ///   also for a recording that was not closed; ``NetworkCore/NetworkError/Code/unreadableFile``;
    ///   ``NetworkCore/NetworkError/Code/unwritableFile``, also while another cassette records the file.
    public convenience init(
        _ path: String,
        over transport: any HTTPTransport,
        matching: ReplayTransport.Matching = .methodAndURL,
        repeatsLast: Bool = false,
        options: RecordingTransport.Options = RecordingTransport.Options(),
        mode: Mode? = nil
    ) throws {
        try self.init(
            path, over: transport, matching: matching, repeatsLast: repeatsLast, options: options, mode: mode,
            maximumBytes: Recording.maximumFileBytes)
    }

    /// - Parameter maximumBytes: The limit on the size of the file, in bytes.
    package init(
        _ path: String, over transport: any HTTPTransport, matching: ReplayTransport.Matching = .methodAndURL,
        repeatsLast: Bool = false, options: RecordingTransport.Options = RecordingTransport.Options(),
        mode: Mode? = nil, maximumBytes: Int
    ) throws {
        let mode = try mode ?? Mode.selected()
        let exists = FileManager.default.fileExists(atPath: path)
        if !exists, mode == .never { throw NetworkError.noCassette(path) }
        if exists, mode != .always, let recording = try Self.recording(at: path, mode) {
            content = .replay(
                ReplayTransport(recording, matching: matching, repeatsLast: repeatsLast, options: options))
            return
        }
        if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex {
            // Without the folder, the file can't be created, and that error says why.
            try? FileManager.default.createDirectory(
                atPath: String(path[..<slash]), withIntermediateDirectories: true)
        }
        let file = try RecordingFile(path, overwrites: exists, maximumBytes: maximumBytes)
        content = .recording(RecordingTransport(transport, to: file, options: options), file)
    }

    /// Returns the recording of a file; `nil` if it is incomplete and may be made anew.
    private static func recording(at path: String, _ mode: Mode) throws -> Recording? {
        // Another cassette may have just begun to record it.
        let target = URL(filePath: path).resolvingSymlinksInPath().path
        let size = try? FileManager.default.attributesOfItem(atPath: target)[.size] as? Int
        if size != 0 {
            let recording = try Recording(contentsOf: path)
            if !recording.isIncomplete { return recording }
        }
        if mode == .never { throw NetworkError.unclosedCassette(path) }
        return nil
    }

    /// Whether the exchanges are recorded, and not replayed.
    public var isRecording: Bool {
        if case .recording = content { true } else { false }
    }

    /// The name of the transport that is recorded, or `replay`.
    public var name: String { current.name }

    /// The capabilities of the transport that is recorded, or all of them.
    public var capabilities: TransportCapabilities { current.capabilities }

    /// Sends a request over the transport that is recorded, or gives it a recorded response.
    public func send(_ request: TransportRequest) async throws -> TransportResponse { try await current.send(request) }

    /// Waits until all exchanges are in the file, and closes it. To be called at the end of a test, because a process
    /// that ends does not wait. Does nothing while replaying.
    /// - Throws: The error that ended the recording; ``NetworkCore/NetworkError/Code/unwritableFile`` if exchanges are
    ///   missing in the file, because there were too many for it or for the disk.
    public func close() async throws {
        guard case .recording(_, let file) = content else { return }
        try await file.close()
        if file.leftOutCount > 0 { throw NetworkError.partialCassette(file.path, without: file.leftOutCount) }
    }

    /// Checks that each entry was given and that every request had one. Does nothing while recording.
    /// - Throws: ``ReplayFailure``.
    public func checkAllUsed() throws {
        if case .replay(let transport) = content { try transport.checkAllUsed() }
    }

    private var current: any HTTPTransport {
        switch content {
        case .recording(let transport, _): transport
        case .replay(let transport): transport
        }
    }
}

extension NetworkError {
    fileprivate static func partialCassette(_ path: String, without count: Int) -> NetworkError {
        NetworkError(
            .unwritableFile,
            "the recording at '\(Redaction.visible(path))' lacks exchanges (\(count)), because there were too many "
                + "for the file or for the disk; it can't be replayed")
    }

    fileprivate static func noCassette(_ path: String) -> NetworkError {
        NetworkError(
            .notRecorded,
            "there is no recording at '\(Redaction.visible(path))', and the mode 'never' forbids making one; it comes "
                + "from the environment variable NETWORK_RECORD unless the test names it",
            phase: .preparing)
    }

    fileprivate static func unclosedCassette(_ path: String) -> NetworkError {
        NetworkError(
            .invalidRecording,
            "the recording at '\(Redaction.visible(path))' is incomplete: what made it ended before close(), or could "
                + "not write all of it; the mode 'once' records it anew",
            phase: .preparing)
    }
}

extension Cassette {
    /// Whether a cassette records or replays.
    @nonexhaustive
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// Replays the file if it exists, or else records it.
        case once
        /// Records the file anew.
        case always
        /// Replays the file, and fails if it does not exist: for CI.
        case never

        /// The environment variable that selects the mode: `NETWORK_RECORD`.
        public static let variable = "NETWORK_RECORD"

        /// Returns the mode that an environment selects; ``once`` if it does not.
        /// - Parameter environment: The environment. Default: the process's own.
        /// - Throws: ``NetworkCore/NetworkError/Code/invalidConfiguration`` for any other value, the empty string
        ///   included.
        public static func selected(
            in environment: [String: String] = ProcessInfo.processInfo.environment
        ) throws -> Mode {
            guard let name = environment[variable] else { return .once }
            guard let mode = Mode(rawValue: name) else {
                throw NetworkError(
                    .invalidConfiguration,
                    "\(variable) is '\(Redaction.visible(name, limit: 64))'; it must be 'once', 'always' or 'never'",
                    phase: .preparing)
            }
            return mode
        }
    }
}
