enum Arguments {
    /// The number of the first argument that is not UTF-8; `nil` if there is none. Swift repairs such an argument, so
    /// its text would differ.
    static var firstThatIsNoText: Int? {
        let count = Int(CommandLine.argc)
        guard count > 1 else { return nil }
        return (1..<count).first { index in
            guard let argument = unsafe CommandLine.unsafeArgv[index] else { return false }
            return unsafe String(validatingCString: argument) == nil
        }
    }
}
