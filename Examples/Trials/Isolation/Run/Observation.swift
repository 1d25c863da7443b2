/// What one step came to, in lines that two runs have alike.
struct Observation: Sendable {
    /// Status, fields, body; or the error.
    var result: [String] = []
    /// What the metrics have, without the times.
    var metrics: [String] = []
    /// What the peer saw.
    var wire: [String] = []
    /// The text of the body, if the peer answered well.
    var body = ""
    var isReused: Bool?
    var seconds = 0.0
}
