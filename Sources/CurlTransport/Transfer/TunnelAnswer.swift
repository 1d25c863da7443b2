/// How much a proxy answers before its tunnel stands. Pure.
///
/// libcurl reads that within one call, a byte at a time, for as long as bytes come: the body of a 407 to its end, whose
/// length the proxy may have given as a terabyte. After each byte it calls its progress function, and that is how they
/// are counted. Of other calls there are some in a call of libcurl, and many only while a body moves.
struct TunnelAnswer {
    /// The most bytes of a transfer's answers to CONNECT, heads and bodies, a few of each call of libcurl not counted.
    /// It takes some fifteen milliseconds to read them, and a proxy's page has less.
    static let maximumBytes = 16_384
    private static let free = 32

    private var call = 0
    private var moved = 0
    private var inCall = 0
    private var bytes = 0

    /// A call of libcurl's progress function.
    /// - Parameters:
    ///   - call: The number of libcurl's call that is under way.
    ///   - moved: How many bytes of bodies have come and gone.
    /// - Returns: Whether to go on.
    mutating func progresses(in call: Int, moved: Int) -> Bool {
        guard call == self.call, moved == self.moved else {
            (self.call, self.moved, inCall) = (call, moved, 0)
            return true
        }
        inCall += 1
        if inCall > Self.free { bytes += 1 }
        return bytes <= Self.maximumBytes
    }
}
