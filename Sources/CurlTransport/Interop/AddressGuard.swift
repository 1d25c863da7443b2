import CCurl
import NetworkCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Holds one transfer to an address policy: each address before a connection to it is made (CURLOPT_OPENSOCKETFUNCTION),
/// and that of a kept connection before the request goes out (CURLOPT_PREREQFUNCTION, 7.80). Used by the loop's thread
/// alone.
final class AddressGuard {
    private let policy: AddressPolicy
    private unowned let multi: MultiHandle
    /// The last address that was refused.
    private(set) var refused: IPAddress?

    init(policy: AddressPolicy, multi: MultiHandle) {
        self.policy = policy
        self.multi = multi
    }

    /// Takes the place of the multi handle in the handle's callbacks.
    func attach(to easy: EasyHandle) throws {
        let context = Unmanaged.passUnretained(self).toOpaque()
        try easy.check(
            ccurl_easy_setopt_open_socket_callback(easy.pointer, Self.openCallback), "CURLOPT_OPENSOCKETFUNCTION")
        try easy.check(
            ccurl_easy_setopt_pointer(easy.pointer, CURLOPT_OPENSOCKETDATA, context), "CURLOPT_OPENSOCKETDATA")
        guard Libcurl.found.has(.requestCheck) else { return }
        try easy.check(
            ccurl_easy_setopt_prereq_callback(easy.pointer, Self.requestCallback), "CURLOPT_PREREQFUNCTION")
        try easy.check(
            ccurl_easy_setopt_pointer(easy.pointer, ccurl_opt_prereqdata, context), "CURLOPT_PREREQDATA")
    }

    /// What can't be read as an address is refused.
    private func allows(_ address: IPAddress?) -> Bool {
        guard let address else { return false }
        if policy.allows(address) { return true }
        refused = address
        return false
    }

    private static let openCallback: ccurl_open_socket_callback = { context, _, address in
        guard let context, let address else { return ccurl_socket_bad }
        let addressGuard = Unmanaged<AddressGuard>.fromOpaque(context).takeUnretainedValue()
        guard addressGuard.allows(IPAddress(socketAddress: address)) else { return ccurl_socket_bad }
        return addressGuard.multi.open(address.pointee)
    }

    private static let requestCallback: ccurl_prereq_callback = { context, remote, _, _, _ in
        guard let context, let remote else { return 1 }
        let addressGuard = Unmanaged<AddressGuard>.fromOpaque(context).takeUnretainedValue()
        // CURL_PREREQFUNC_OK and CURL_PREREQFUNC_ABORT.
        return addressGuard.allows(IPAddress(String(cString: remote))) ? 0 : 1
    }
}

extension IPAddress {
    /// The address that libcurl is about to connect to.
    fileprivate init?(socketAddress: UnsafeMutablePointer<curl_sockaddr>) {
        // `addr` is the start of a longer address where the family needs one; libcurl keeps room for it.
        let start = UnsafeRawPointer(socketAddress).advanced(by: MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0)
        switch socketAddress.pointee.family {
        case AF_INET:
            let address = start.loadUnaligned(as: sockaddr_in.self).sin_addr
            self.init(bytes: withUnsafeBytes(of: address) { Array($0) })
        case AF_INET6:
            let address = start.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            self.init(bytes: withUnsafeBytes(of: address) { Array($0) })
        default: return nil
        }
    }
}
