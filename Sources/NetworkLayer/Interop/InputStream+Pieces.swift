import Foundation

extension InputStream {
    /// Reads into `piece`, as much as it holds.
    /// - Returns: How many bytes there are: 0 at the end, less where the stream can't be read.
    func read(into piece: inout [UInt8]) -> Int { unsafe read(&piece, maxLength: piece.count) }
}
