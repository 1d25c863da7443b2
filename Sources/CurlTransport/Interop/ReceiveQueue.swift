import CLibrary

/// The bytes that have arrived at a socket and are not read yet.
enum ReceiveQueue {
    private static let peek = Int32(MSG_PEEK | MSG_DONTWAIT)

    /// Returns whether there is anything to read, even just the end (recv(2), MSG_PEEK).
    static func holdsAnything(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, peek) >= 0
    }

    /// Returns whether there are bytes.
    static func holdsBytes(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, peek) > 0
    }
}

/// The local port of a connection.
enum LocalPort {
    /// Returns the port that a socket is bound to (getsockname(2)); `nil` if it has none.
    static func of(_ descriptor: Int32) -> Int? {
        var address = sockaddr_in6()
        var count = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &count) }
        }
        // Both families have the port in the same place.
        guard status == 0, [AF_INET, AF_INET6].contains(Int32(address.sin6_family)) else { return nil }
        return Int(UInt16(bigEndian: address.sin6_port))
    }
}
