/// A random number generator that returns the same numbers for the same seed (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// Returns a text of up to `count` random pieces.
    package mutating func text(of pieces: [String], upTo count: Int) -> String {
        (0..<Int.random(in: 0...count, using: &self)).map { _ in pieces.randomElement(using: &self) ?? "" }.joined()
    }

    /// Returns a text that breaks a careless encoder: separators, quotes, control characters, all planes of Unicode.
    package mutating func hostileText(upTo count: Int, without excluded: Set<Unicode.Scalar> = []) -> String {
        let favourites = Array("+&=%;,:/?#[]{}\"'\\ \r\n\t\u{0}-_.~*()|<>@!$^`".unicodeScalars)
        var text = ""
        for _ in 0..<Int.random(in: 0...count, using: &self) {
            let scalar: Unicode.Scalar
            switch Int.random(in: 0..<4, using: &self) {
            case 0: scalar = Unicode.Scalar(UInt8.random(in: 0x61...0x7A, using: &self))
            case 1: scalar = Unicode.Scalar(UInt32.random(in: 0x80..<0xD800, using: &self)) ?? "x"
            case 2: scalar = Unicode.Scalar(UInt32.random(in: 0x1_0000...0x10_FFFF, using: &self)) ?? "x"
            default: scalar = favourites.randomElement(using: &self) ?? "x"
            }
            if !excluded.contains(scalar) { text.unicodeScalars.append(scalar) }
        }
        return text
    }
}
