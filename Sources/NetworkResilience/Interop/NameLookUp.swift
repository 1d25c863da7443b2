import CLibrary
import NetworkCore

/// The system's lookup of a name (getaddrinfo(3)), which blocks its thread.
enum NameLookUp {
    /// Returns the addresses of a name, in the system's order.
    static func addresses(of host: String) -> Result<[AddressPolicy.Address], any Error> {
        var hints = unsafe addrinfo()
        #if canImport(Musl)
        unsafe hints.ai_socktype = SOCK_STREAM
        #else
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        var first: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, nil, &hints, &first)
        guard status == 0 else {
            let words = unsafe gai_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"
            return .failure(
                NetworkError(
                    .nameNotResolved, "the host '\(host)' has no address: \(words) (getaddrinfo)", phase: .connecting,
                    underlying: .init(domain: "getaddrinfo", code: Int(status), message: words)))
        }
        defer { unsafe freeaddrinfo(first) }
        var addresses: [AddressPolicy.Address] = []
        var next = unsafe first
        while let entry = unsafe next {
            if let bytes = unsafe bytes(of: entry.pointee), let address = AddressPolicy.Address(bytes: bytes) {
                addresses.append(address)
            }
            unsafe next = entry.pointee.ai_next
        }
        return .success(addresses)
    }

    private static func bytes(of entry: addrinfo) -> [UInt8]? {
        guard let start = unsafe UnsafeRawPointer(entry.ai_addr) else { return nil }
        switch unsafe entry.ai_family {
        case AF_INET:
            return unsafe withUnsafeBytes(of: start.loadUnaligned(as: sockaddr_in.self).sin_addr) { unsafe Array($0) }
        case AF_INET6:
            return unsafe withUnsafeBytes(of: start.loadUnaligned(as: sockaddr_in6.self).sin6_addr) {
                unsafe Array($0)
            }
        default: return nil
        }
    }

    /// Runs work on a detached thread of its own.
    /// - Returns: Whether there is a thread for it.
    static func startThread(_ work: @escaping @Sendable () -> Void) -> Bool {
        let box = unsafe Unmanaged.passRetained(Box(work))
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { unsafe pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread, &attributes,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue().work()
                return nil
            }, unsafe box.toOpaque())
        if status != 0 { unsafe box.release() }
        return status == 0
    }

    private final class Box {
        let work: @Sendable () -> Void
        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }
}
