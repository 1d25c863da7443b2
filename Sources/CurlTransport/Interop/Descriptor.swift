import CLibrary

/// Descriptors that libcurl opened without us.
enum Descriptor {
    /// Keeps a descriptor from the programs that the process starts (FD_CLOEXEC). One that is closed already stays so.
    static func closeOnExec(_ descriptor: Int32) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
}
