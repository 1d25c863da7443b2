import FoundationEssentials
import NetworkCore

/// The places of the authorities that a request names instead of libcurl's own, as libcurl takes them (CURLOPT_CAINFO,
/// CAPATH, CAINFO_BLOB, and those of a proxy).
///
/// An option that is cleared does not stay empty everywhere: libcurl brings its own authorities back
/// (``LibcurlSupport/Quirk``). So the directory is not cleared there, but names a place without certificates. For a
/// file there is no such place: libcurl refuses one without a certificate.
struct TrustedPlaces: Equatable {
    private(set) var file: String?
    private(set) var directory: String?
    private(set) var bytes: Data?

    /// Creates the places; `nil` for libcurl's own.
    /// - Parameter looksUpOverHTTPS: Whether lookups over HTTPS trust the authorities too.
    /// - Throws: ``NetworkError/Code/unsupported`` for a directory that would not be alone.
    init?(
        _ authorities: TransportOptions.TLS.Authorities, looksUpOverHTTPS: Bool = false, support: LibcurlSupport
    ) throws {
        let lookUpsTrustMore = looksUpOverHTTPS && support.suffers(from: .lookUpsTrustOwnAuthorities)
        let returns = lookUpsTrustMore || support.suffers(from: .clearedDirectoryReturns)
        // libcurl caches no authorities next to a directory.
        let noDirectory = returns && support.defaultCADirectory != nil ? "/dev/null" : nil
        switch authorities {
        case .system: return nil
        case .file(let path): (file, directory) = (path, noDirectory)
        case .directory(let path):
            let isAlone = !lookUpsTrustMore && !support.suffers(from: .clearedFileReturns)
            if !isAlone, support.defaultCAFile != nil { throw NetworkError.directoryIsNotAlone }
            directory = path
        // Next to bytes, libcurl's own file does not count.
        case .bytes(let bytes): (self.bytes, directory) = (bytes, noDirectory)
        }
    }
}

extension NetworkError {
    fileprivate static var directoryIsNotAlone: NetworkError {
        NetworkError(
            .unsupported,
            "a directory of authorities (tls.authorities, proxy.authorities) can't replace libcurl's own authorities "
                + "with libcurl 8.21 and 8.22, nor for names.dnsOverHTTPS below 8.17: name a file instead",
            phase: .preparing)
    }
}
