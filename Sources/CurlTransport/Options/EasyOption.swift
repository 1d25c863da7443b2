/// A setting of one transfer as a value that applies itself. A new libcurl option is one more value.
protocol EasyOption {
    /// Applies the setting to a handle that was reset and is not in a multi handle.
    /// - Throws: ``NetworkError/Code/unsupported`` for what this libcurl does not know.
    func apply(to easy: EasyHandle) throws
}
