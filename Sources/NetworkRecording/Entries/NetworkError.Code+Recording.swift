public import NetworkCore

extension NetworkError.Code {
    /// A text is not a HAR 1.2 document that can be used. The message names the place in it.
    public static let invalidRecording = Self(rawValue: "invalidRecording")
    /// A `ReplayTransport` received a request that is not in its recording, or the part of a body that is read was not
    /// recorded.
    public static let notRecorded = Self(rawValue: "notRecorded")
}
