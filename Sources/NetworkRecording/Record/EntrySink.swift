/// Where a transport's recorded exchanges go.
protocol EntrySink: Sendable {
    /// Stores an entry.
    /// - Parameters:
    ///   - size: The approximate size of the entry, in bytes.
    ///   - make: Makes the entry, without its secrets. Called on the sink's own queue, or never.
    func add(size: Int, _ make: @escaping @Sendable () -> Recording.Entry)
}
