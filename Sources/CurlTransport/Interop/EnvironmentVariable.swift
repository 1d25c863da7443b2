import CLibrary

/// The process's environment, as libcurl sees it.
enum EnvironmentVariable {
    static func isSet(_ name: String) -> Bool { unsafe getenv(name) != nil }

    /// Returns the variable's value; `nil` for a variable that is unset or empty.
    static func value(_ name: String) -> String? {
        unsafe getenv(name).flatMap { unsafe $0[0] == 0 ? nil : String(cString: $0) }
    }
}
