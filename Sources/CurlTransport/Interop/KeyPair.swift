import CLibrary
import FoundationEssentials

/// Whether a certificate and a private key belong together, by OpenSSL; other TLS libraries are not asked.
enum KeyPair {
    enum Verdict: String {
        case fits = "they belong together"
        case unknown = "libcurl's TLS library is not OpenSSL"
        case badCertificate = "OpenSSL does not accept the certificate"
        case badKey = "OpenSSL does not accept the private key, or its password is wrong"
        case mismatch = "the private key is that of another certificate"
    }

    private typealias Pointer = UnsafeMutableRawPointer
    private typealias MakeBIO = @convention(c) (UnsafeRawPointer?, Int32) -> Pointer?
    private typealias ReadPEM = @convention(c) (Pointer?, Pointer?, Pointer?, UnsafeRawPointer?) -> Pointer?
    private typealias Check = @convention(c) (Pointer?, Pointer?) -> Int32
    private typealias Free = @convention(c) (Pointer?) -> Void
    private typealias FreeBIO = @convention(c) (Pointer?) -> Int32
    private typealias Clear = @convention(c) () -> Void

    /// - Parameter password: The password of the key, or an empty text: without any, OpenSSL would ask the terminal.
    static func check(certificate: Data, key: Data, password: String) -> Verdict {
        // Its presence says that the functions are those of libcurl's library.
        guard OpenSSL.library != nil, let makeBIO = unsafe dlsym(nil, "BIO_new_mem_buf"),
            let freeBIO = unsafe dlsym(nil, "BIO_free"), let readCertificate = unsafe dlsym(nil, "PEM_read_bio_X509"),
            let readKey = unsafe dlsym(nil, "PEM_read_bio_PrivateKey"),
            let check = unsafe dlsym(nil, "X509_check_private_key"),
            let freeCertificate = unsafe dlsym(nil, "X509_free"),
            let freeKey = unsafe dlsym(nil, "EVP_PKEY_free"), let clear = unsafe dlsym(nil, "ERR_clear_error")
        else { return .unknown }
        // libcurl would find errors that are left behind on its own thread.
        defer { unsafe unsafeBitCast(clear, to: Clear.self)() }
        func object(_ pem: Data, _ read: Pointer) -> Pointer? {
            unsafe pem.withUnsafeBytes { bytes in
                let bio = unsafe unsafeBitCast(makeBIO, to: MakeBIO.self)(
                    bytes.baseAddress, Int32(clamping: bytes.count))
                defer { _ = unsafe unsafeBitCast(freeBIO, to: FreeBIO.self)(bio) }
                return unsafe password.withCString { unsafe unsafeBitCast(read, to: ReadPEM.self)(bio, nil, nil, $0) }
            }
        }
        guard let owner = unsafe object(certificate, readCertificate) else { return .badCertificate }
        defer { unsafe unsafeBitCast(freeCertificate, to: Free.self)(owner) }
        guard let secret = unsafe object(key, readKey) else { return .badKey }
        defer { unsafe unsafeBitCast(freeKey, to: Free.self)(secret) }
        return unsafe unsafeBitCast(check, to: Check.self)(owner, secret) == 1 ? .fits : .mismatch
    }
}
