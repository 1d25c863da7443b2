import CCurl
import CLibrary
import NetworkCore

/// The address policy. It checks each address before a connection to it is made (CURLOPT_OPENSOCKETFUNCTION), and the
/// address of a kept connection before the request goes out (CURLOPT_PREREQFUNCTION, 7.80). The second callback also
/// counts how often the request goes out.
extension Transfer {
    /// Registers the check before a request goes out, possibly over a connection that another transfer opened.
    func attachRequestCheck(to easy: EasyHandle) throws {
        guard Libcurl.found.has(.requestCheck) else { return }
        try unsafe easy.check(
            ccurl_easy_setopt_prereq_callback(easy.pointer, Self.requestCallback), "CURLOPT_PREREQFUNCTION")
        try unsafe easy.check(
            ccurl_easy_setopt_pointer(easy.pointer, ccurl_opt_prereqdata, easy.context), "CURLOPT_PREREQDATA")
    }

    /// Returns whether libcurl may connect to an address. Not for a transfer whose caller has its result: it stays in
    /// libcurl while its name is looked up, and would send its request afterwards.
    func mayConnect(to address: UnsafeMutablePointer<curl_sockaddr>) -> Bool {
        guard state.failure == nil, unsafe isWanted(family: address.pointee.family) else { return false }
        return unsafe request.options.addressPolicy == .any || allows(AddressPolicy.Address(socketAddress: address))
    }

    /// Below 7.77 libcurl connects to any known address of a name, whatever IP version the request wants.
    private func isWanted(family: Int32) -> Bool {
        guard request.options.hasRareOptions else { return true }
        return switch request.options.connection.ipVersion {
        case .any: true
        case .v4: family != AF_INET6
        case .v6: family != AF_INET
        }
    }

    /// Refuses what can't be read as an address.
    private func allows(_ address: AddressPolicy.Address?) -> Bool {
        guard let address else { return false }
        if request.options.addressPolicy.allows(address) { return true }
        refusedAddress = address
        return false
    }

    private static let requestCallback: ccurl_prereq_callback = { context, remote, _, _, localPort in
        let mayAsk = unsafe EasyHandle.report(context) { transfer in
            let sent = transfer.easy?.long(CURLINFO_REQUEST_SIZE) ?? 0
            return unsafe remote.map { unsafe transfer.mayAsk($0, from: Int(localPort), sent: sent) } == true ? 1 : 0
        }
        // 0 is CURL_PREREQFUNC_OK, and 1 is CURL_PREREQFUNC_ABORT.
        return mayAsk == 1 ? 0 : 1
    }

    /// - Parameter sent: The number of bytes of the request that have gone out over this handle.
    func mayAsk(_ remote: UnsafePointer<CChar>, from localPort: Int, sent: Int) -> Bool {
        // It may have waited for another transfer's connection, and ended from our side meanwhile.
        guard state.failure == nil else { return false }
        lookUp.requestGoesOut()
        if isLookingUp { delegate?.transferHasConnection(self) }
        // Before the connection is checked: a new connection comes with a new handle, which has sent nothing.
        guard sending.mayGoOut(sent: sent) else {
            state.fail(NetworkError.notRepeated(request.method.rawValue))
            return false
        }
        if delegate?.transfer(self, goesOutFrom: localPort) == false {
            needsFreshConnection = true
            return false
        }
        guard !hasHandedOutHead else {
            state.fail(NetworkError.respondedBefore)
            return false
        }
        guard sending.goesOut(sent: sent) else { return false }
        isBodyWanted = false
        state.goesOut(at: clock.now)
        if sending.attempts > 1 { delegate?.transferGoesOutAgain(self) }
        guard request.options.hasRareOptions, request.options.addressPolicy != .any else { return true }
        return unsafe allows(AddressPolicy.Address(String(cString: remote)))
    }
}

extension NetworkError {
    /// For a request that would go out again after its caller has the head: what comes now would be another response's.
    fileprivate static var respondedBefore: NetworkError {
        NetworkError(
            .invalidResponse, "libcurl was about to send the request again after its response had arrived",
            phase: .receiving)
    }

    fileprivate static func notRepeated(_ method: String) -> NetworkError {
        NetworkError(
            .connectionLost,
            "the server closed the kept connection without a response; the \(method) may have been executed and is "
                + "not sent again (connection.repeatsAnyMethod)",
            phase: .waiting
        )
    }
}

extension AddressPolicy.Address {
    /// Reads the address that libcurl is about to connect to.
    fileprivate init?(socketAddress: UnsafeMutablePointer<curl_sockaddr>) {
        // `addr` is the start of a longer address where the family needs one; libcurl reserves room for it.
        let start = unsafe UnsafeRawPointer(socketAddress).advanced(
            by: MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0)
        switch unsafe socketAddress.pointee.family {
        case AF_INET:
            let address = unsafe start.loadUnaligned(as: sockaddr_in.self).sin_addr
            unsafe self.init(bytes: withUnsafeBytes(of: address) { unsafe Array($0) })
        case AF_INET6:
            let address = unsafe start.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            unsafe self.init(bytes: withUnsafeBytes(of: address) { unsafe Array($0) })
        default: return nil
        }
    }
}
