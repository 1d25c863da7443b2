extension RequestURL {
    /// Whether nobody on the way can read or change what the URL carries: it is `https`, or leads to this machine
    /// (`localhost` and its subdomains, 127.0.0.0/8, `[::1]`).
    /// [Secure Contexts §3.1](https://www.w3.org/TR/secure-contexts/#is-origin-trustworthy)
    var isTrustworthy: Bool {
        if scheme == "https" { return true }
        let name = host.hasByteSuffix(".") ? String(host.dropLast()) : host
        if name == "localhost" || name.hasByteSuffix(".localhost") { return true }
        guard let address = AddressPolicy.Address(ProxyExceptions.withoutBrackets(host))?.bytes else { return false }
        return address.count == 4 ? address[0] == 127 : address == Array(repeating: 0, count: 15) + [1]
    }
}
