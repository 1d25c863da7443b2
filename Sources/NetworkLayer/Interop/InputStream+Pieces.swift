import Foundation

extension InputStream {
    /// Reads bytes into `piece`, at most as many as it holds.
    /// - Returns: The number of bytes: 0 at the end, a negative number if the stream can't be read.
    func read(into piece: inout [UInt8]) -> Int { unsafe read(&piece, maxLength: piece.count) }
}
