/// A setting of one transfer, as a value that applies itself. Each further libcurl option is one more such value.
protocol EasyOption {
    /// Applies the setting to a handle that was reset and is not in a multi handle.
    /// - Throws: ``NetworkError/Code/unsupported`` for a setting that this libcurl does not know.
    func apply(to easy: EasyHandle) throws
}
