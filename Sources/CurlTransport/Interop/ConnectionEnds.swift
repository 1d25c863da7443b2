import CLibrary
import NetworkCore

/// The two ends of the connection that a request is about to use, valid until the callback that received them returns
/// (CURLOPT_PREREQFUNCTION).
@safe struct ConnectionEnds {
    private let remote: UnsafePointer<CChar>?
    let localPort: Int
    private let remotePort: Int

    init(localPort: Int, remote: UnsafePointer<CChar>? = nil, remotePort: Int = 0) {
        unsafe self.remote = remote
        self.localPort = localPort
        self.remotePort = remotePort
    }

    /// The address at the other end; `nil` for a Unix socket.
    var remoteAddress: AddressPolicy.Address? {
        unsafe remote.flatMap { unsafe AddressPolicy.Address(String(cString: $0)) }
    }

    /// Returns whether a socket has the same other end.
    func areThose(of descriptor: Int32) -> Bool {
        guard let peer = SocketName.remote(of: descriptor), let address = remoteAddress else { return false }
        return peer.port == remotePort && peer.address == address
    }
}

/// The names of a socket's two ends.
enum SocketName {
    /// Returns the port that a socket is bound to (getsockname(2)); `nil` if it has none.
    static func localPort(of descriptor: Int32) -> Int? {
        unsafe name(of: descriptor, getsockname).flatMap(port)
    }

    /// Returns the address and the port that a socket is connected to (getpeername(2)); `nil` if there are none.
    static func remote(of descriptor: Int32) -> (address: AddressPolicy.Address, port: Int)? {
        guard let name = unsafe name(of: descriptor, getpeername), let port = port(of: name) else { return nil }
        var bytes = unsafe withUnsafeBytes(of: name.sin6_addr) { unsafe Array($0) }
        if Int32(name.sin6_family) == AF_INET {
            bytes = unsafe withUnsafeBytes(of: name) {
                unsafe withUnsafeBytes(of: $0.loadUnaligned(as: sockaddr_in.self).sin_addr) { unsafe Array($0) }
            }
        }
        return AddressPolicy.Address(bytes: bytes).map { ($0, port) }
    }

    private static func name(
        of descriptor: Int32,
        _ call: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> sockaddr_in6? {
        var name = sockaddr_in6()
        var count = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let status = unsafe withUnsafeMutablePointer(to: &name) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe call(descriptor, $0, &count) }
        }
        return status == 0 ? name : nil
    }

    /// Both families have the port in the same place.
    private static func port(of name: sockaddr_in6) -> Int? {
        [AF_INET, AF_INET6].contains(Int32(name.sin6_family)) ? Int(UInt16(bigEndian: name.sin6_port)) : nil
    }
}
