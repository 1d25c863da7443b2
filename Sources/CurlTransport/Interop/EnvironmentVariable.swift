#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The process's environment, as libcurl sees it.
enum EnvironmentVariable {
    static func isSet(_ name: String) -> Bool { getenv(name) != nil }
}
