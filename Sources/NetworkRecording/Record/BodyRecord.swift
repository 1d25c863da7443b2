import FoundationEssentials

/// The start of a body that passes by, and its chunks.
struct BodyRecord: Sendable {
    private(set) var bytes = Data()
    private(set) var count = 0
    private(set) var chunks: [Recording.Chunk] = []
    private let limit: Int

    init(limit: Int) { self.limit = max(0, limit) }

    mutating func append(_ chunk: Data, at time: Duration) {
        count += chunk.count
        let room = limit - bytes.count
        if room > 0 { bytes.append(room < chunk.count ? chunk.prefix(room) : chunk) }
        if chunks.count < Recording.maximumChunks {
            chunks.append(Recording.Chunk(time: time, count: chunk.count))
        } else {
            chunks[chunks.count - 1].count += chunk.count
        }
    }

    /// The record as a body.
    var body: Recording.Body { Recording.Body(bytes, omitted: count - bytes.count) }
}
