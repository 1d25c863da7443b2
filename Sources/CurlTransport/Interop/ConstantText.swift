/// A text that a library keeps for the life of the process. Read on demand.
///
/// @unchecked: no thread ever writes it.
@safe struct ConstantText: @unchecked Sendable {
    private let bytes: UnsafePointer<CChar>

    init?(_ bytes: UnsafePointer<CChar>?) {
        guard let bytes = unsafe bytes else { return nil }
        unsafe self.bytes = bytes
    }

    var string: String { unsafe String(cString: bytes) }
}
