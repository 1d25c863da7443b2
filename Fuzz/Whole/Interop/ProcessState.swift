import CLibrary

/// What the process holds.
enum ProcessState {
    /// The descriptors that are open, of those that a scenario may reach.
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

    /// Makes libcurl take its memory from the C library alone, whose every byte AddressSanitizer watches: the first to
    /// initialise it decides.
    static func takePlainMemory() {
        typealias Initialise = @convention(c) (CLong) -> CInt
        guard let symbol = dlsym(nil, "curl_global_init") else { return }
        _ = unsafeBitCast(symbol, to: Initialise.self)(3)
    }

    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// The names in a variable, with commas between them.
    static func names(_ variable: String) -> Set<String> {
        Set((self.variable(variable) ?? "").split(separator: ",").map(String.init))
    }

    static func printError(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }
}
