import CCurl
import CLibrary
import NetworkCore

/// The address that libcurl is about to connect to, valid until the callback that received it returns.
@safe struct SocketAddress {
    private let pointer: UnsafeMutablePointer<curl_sockaddr>

    init(_ pointer: UnsafeMutablePointer<curl_sockaddr>) { unsafe self.pointer = pointer }

    var isIPv4: Bool { unsafe pointer.pointee.family == AF_INET }
    var isIPv6: Bool { unsafe pointer.pointee.family == AF_INET6 }

    /// The IP address; `nil` for an address of another family.
    var ip: AddressPolicy.Address? {
        // `addr` is the start of a longer address where the family needs one; libcurl keeps room for it.
        let start = unsafe UnsafeRawPointer(pointer).advanced(
            by: MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0)
        if isIPv4 {
            let address = unsafe start.loadUnaligned(as: sockaddr_in.self).sin_addr
            return unsafe AddressPolicy.Address(bytes: withUnsafeBytes(of: address) { unsafe Array($0) })
        }
        guard isIPv6 else { return nil }
        let address = unsafe start.loadUnaligned(as: sockaddr_in6.self).sin6_addr
        return unsafe AddressPolicy.Address(bytes: withUnsafeBytes(of: address) { unsafe Array($0) })
    }

    /// Opens a socket for the address, closed in children (socket(2), SOCK_CLOEXEC).
    /// - Returns: The descriptor; -1 after an error, which errno names.
    func open() -> Int32 {
        let wanted = unsafe pointer.pointee
        return socket(wanted.family, wanted.socktype | Int32(SOCK_CLOEXEC.rawValue), wanted.protocol)
    }
}
