import CLibrary

/// Descriptors that libcurl opened itself.
enum Descriptor {
    /// Keeps a descriptor from programs that the process starts (FD_CLOEXEC). Does nothing for a closed descriptor.
    static func closeOnExec(_ descriptor: Int32) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
}
