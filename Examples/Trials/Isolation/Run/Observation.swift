/// The outcome of one step, in lines that are the same in every run.
struct Observation: Sendable {
    /// The status, fields and body; or the error.
    var result: [String] = []
    /// The metrics without the times.
    var metrics: [String] = []
    /// The requests that the peer received.
    var wire: [String] = []
    /// The text of the body, if the peer sent a valid response.
    var body = ""
    var isReused: Bool?
    var seconds = 0.0
}
