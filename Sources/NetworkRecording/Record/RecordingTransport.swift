public import NetworkCore

/// A transport that records what goes over another one.
///
/// ```swift
/// let file = try RecordingFile("session.har")
/// let client = NetworkClient(transport: RecordingTransport(CurlNetworkDispatcher.shared, to: file))
/// // …
/// try await file.close()
/// ```
///
/// Each exchange is recorded when it ends: with its body, with an error, or when the reader releases the response. The
/// exchange itself stays as it is: bodies are recorded while they pass by, in both directions, and the recording is
/// made and written elsewhere. A recorded body is the one before compression and after decompression.
///
/// Secrets are left out before anything is stored: see ``Recording/Entry/redactSecrets(in:bodies:)``.
public struct RecordingTransport: HTTPTransport, NetworkDispatcher {
    private let transport: any HTTPTransport
    private let sink: any EntrySink
    private let options: Options

    /// Creates a transport that records to a file.
    public init(_ transport: any HTTPTransport, to file: RecordingFile, options: Options = Options()) {
        (self.transport, sink, self.options) = (transport, file, options)
    }

    /// Creates a transport that records in memory.
    public init(_ transport: any HTTPTransport, to memory: RecordingMemory, options: Options = Options()) {
        (self.transport, sink, self.options) = (transport, memory, options)
    }

    /// The recorded transport's name.
    public var name: String { transport.name }

    /// The recorded transport's capabilities.
    public var capabilities: TransportCapabilities { transport.capabilities }

    /// Sends a request over the recorded transport.
    /// - Throws: The errors of the recorded transport.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let record = ExchangeRecord(request, over: transport.name, to: sink, options)
        do {
            return record.witnessed(try await transport.send(record.witnessed(request)))
        } catch {
            record.fail(error)
            throw error
        }
    }

    /// What is recorded.
    public struct Options: Sendable {
        /// The limit on the recorded part of each body, in bytes. The rest is counted in ``Recording/Body/omitted``.
        /// Default: 1 MiB.
        public var maximumBodyBytes = Recording.maximumBodyBytes
        /// The bodies that are recorded. Default: those with a structure in which secrets have names, such as JSON and
        /// forms. For pages, texts and files: `.all`.
        public var bodies: Recording.Bodies
        /// Changes each entry after its secrets were left out and before it is stored, to leave out more. Called on a
        /// queue of the recorder. Default: `nil`.
        public var redact: (@Sendable (inout Recording.Entry) -> Void)?
        /// The clock for the times of chunks. Default: `ContinuousClock`.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Creates options. Default: the default ones.
        public init(bodies: Recording.Bodies = .structured) { self.bodies = bodies }
    }
}
