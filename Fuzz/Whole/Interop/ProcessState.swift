import CLibrary

/// The resources of the process.
enum ProcessState {
    /// The open descriptors below 256, the range that a scenario can reach.
    static var descriptors: [Int32] { (0..<256).filter { fcntl($0, F_GETFD) >= 0 } }

    static func names(of descriptors: [Int32]) -> [String] {
        descriptors.map { descriptor in
            var name = [CChar](repeating: 0, count: 256)
            readlink("/proc/self/fd/\(descriptor)", &name, name.count - 1)
            return "\(descriptor) "
                + name.prefix { $0 != 0 }.map { String(UnicodeScalar(UInt8(bitPattern: $0))) }.joined()
        }
    }

    static var threads: Int {
        guard let folder = opendir("/proc/self/task") else { return 0 }
        defer { closedir(folder) }
        var count = -2
        while readdir(folder) != nil { count += 1 }
        return count
    }

    /// Makes libcurl allocate with the C library's functions, whose memory AddressSanitizer watches. The first
    /// initialization of libcurl decides which functions it uses.
    static func takePlainMemory() {
        typealias Initialise = @convention(c) (CLong) -> CInt
        guard let symbol = dlsym(nil, "curl_global_init") else { return }
        _ = unsafeBitCast(symbol, to: Initialise.self)(3)
    }

    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Returns the comma-separated names in an environment variable.
    static func names(_ variable: String) -> Set<String> {
        Set((self.variable(variable) ?? "").split(separator: ",").map(String.init))
    }

    static func printError(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }
}
