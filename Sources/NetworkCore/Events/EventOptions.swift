/// How a stream of events is kept up.
public struct EventOptions: Sendable {
    /// The id after which to begin; empty for now. Kept up to date by the stream itself.
    public var lastEventID = ""
    /// The time before a reconnection while the server names none (`retry:`). 3 s by default. It doubles with each
    /// failure in a row.
    public var reconnectionTime = Duration.seconds(3)
    /// The longest time before a reconnection, whatever the server says. A minute by default.
    public var maximumReconnectionTime = Duration.seconds(60)
    /// How many connections in a row may fail or bring no event before the last failure is thrown. 10 by default; `nil`
    /// for no limit.
    public var maximumFailures: Int? = 10
    /// The longest line, in bytes: 1 MiB by default. A longer one is ``NetworkError/Code/lineTooLong``.
    public var maximumLineBytes = 1 << 20
    /// The largest data of an event, in bytes: 8 MiB by default. Larger is ``NetworkError/Code/eventTooLarge``.
    public var maximumEventBytes = 8 << 20
    /// The pauses before reconnections, and the chance in them.
    public var time = TimeSource.system

    /// The defaults.
    public init() {}
}
