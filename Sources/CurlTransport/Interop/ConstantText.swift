/// A text that a library keeps as long as the process lives. Read when asked for.
///
/// @unchecked: nobody ever writes it.
struct ConstantText: @unchecked Sendable {
    private let bytes: UnsafePointer<CChar>

    init?(_ bytes: UnsafePointer<CChar>?) {
        guard let bytes else { return nil }
        self.bytes = bytes
    }

    var string: String { String(cString: bytes) }
}
