import Foundation
import NetworkComparison
import NetworkLayer

/// The output of a program, chunk by chunk: its bytes up to a limit, and beyond it the length and the SHA-256 of all.
struct ProgramOutput: Sendable {
    /// The most bytes that are kept. Until then nothing is calculated while the program's time runs.
    static let maximumKept = 64 << 20

    private let limit: Int
    private var kept = Data()
    private var count = 0
    private var checksum: SHA256Checksum?

    /// - Parameter limit: The most bytes to keep; ``RecordedResponse/maximumBody`` or more.
    init(limit: Int = Self.maximumKept) { self.limit = limit }

    mutating func add(_ chunk: [UInt8]) {
        count += chunk.count
        if checksum == nil {
            kept += chunk
            guard kept.count > limit else { return }
            checksum = SHA256Checksum()
            checksum?.update(kept)
            kept = Data()
        } else {
            checksum?.update(Data(chunk))
        }
    }

    /// Makes the output the body of a response.
    func setBody(of response: inout RecordedResponse) {
        guard var checksum else { return response.setBody(kept) }
        response.setDigest(checksum.finish(), length: count)
    }
}
