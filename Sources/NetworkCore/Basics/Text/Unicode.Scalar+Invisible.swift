extension Unicode.Scalar {
    /// Whether a terminal or a log would act on the character instead of showing it: controls, line separators,
    /// direction marks.
    package var isInvisible: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF,
            0xE0000...0xE007F:
            true
        default: false
        }
    }
}
