enum Arguments {
    /// The number of the first argument that is not UTF-8; `nil` for none. Swift's own would have other characters.
    static var firstThatIsNoText: Int? {
        let count = Int(CommandLine.argc)
        guard count > 1 else { return nil }
        return (1..<count).first { index in
            guard let argument = unsafe CommandLine.unsafeArgv[index] else { return false }
            return unsafe String(validatingCString: argument) == nil
        }
    }
}
