import CLibrary

/// OpenSSL's functions, looked up at run time, because libcurl may be built on another library.
@safe struct OpenSSL: Sendable {
    typealias Text = @convention(c) (UnsafeRawPointer?) -> UnsafePointer<CChar>?
    typealias Cipher = @convention(c) (UnsafeRawPointer?) -> UnsafeRawPointer?
    typealias Version = @convention(c) (Int32) -> UnsafePointer<CChar>?
    typealias Number = @convention(c) (UnsafeRawPointer?) -> Int32
    typealias Selected =
        @convention(c) (
            UnsafeRawPointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>, UnsafeMutablePointer<UInt32>
        ) -> Void

    let version: Text
    let cipher: Cipher
    let cipherName: Text
    /// SSL_has_pending(3): bytes that are decrypted, or read and not yet decrypted.
    let hasPending: Number
    /// SSL_get0_alpn_selected(3).
    let selectedProtocol: Selected

    /// `nil` unless the functions belong to the very library that libcurl names: a program may have loaded a second
    /// one.
    static let library: OpenSSL? = {
        guard let about = unsafe dlsym(nil, "OpenSSL_version"), let version = unsafe dlsym(nil, "SSL_get_version"),
            let cipher = unsafe dlsym(nil, "SSL_get_current_cipher"),
            let name = unsafe dlsym(nil, "SSL_CIPHER_get_name"),
            let pending = unsafe dlsym(nil, "SSL_has_pending"),
            let selected = unsafe dlsym(nil, "SSL_get0_alpn_selected"),
            // 'OpenSSL 3.0.19 27 Jan 2026', where libcurl has 'OpenSSL/3.0.19'.
            let words = unsafe unsafeBitCast(about, to: Version.self)(0).map({ unsafe String(cString: $0) })?.split(
                separator: " "),
            words.count > 1, Libcurl.found.tlsLibrary?.contains("\(words[0])/\(words[1])") == true
        else { return nil }
        return unsafe OpenSSL(
            version: unsafeBitCast(version, to: Text.self),
            cipher: unsafeBitCast(cipher, to: Cipher.self),
            cipherName: unsafeBitCast(name, to: Text.self),
            hasPending: unsafeBitCast(pending, to: Number.self),
            selectedProtocol: unsafeBitCast(selected, to: Selected.self)
        )
    }()

    /// Returns the protocol that both sides have agreed upon; empty if they have not talked about one.
    func negotiated(_ session: UnsafeRawPointer) -> [UInt8] {
        var (start, count): (UnsafePointer<UInt8>?, UInt32) = (nil, 0)
        unsafe selectedProtocol(session, &start, &count)
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    func session(_ session: UnsafeRawPointer) -> TLSSession {
        unsafe TLSSession(
            protocolName: ConstantText(version(session)),
            cipherName: ConstantText(cipher(session).flatMap { unsafe cipherName($0) })
        )
    }
}

/// The TLS parameters of a connection, in the TLS library's words.
struct TLSSession: Sendable {
    /// The protocol's name, such as `TLSv1.3` or `TLS1.3`.
    let protocolName: ConstantText?
    /// The cipher suite's name.
    let cipherName: ConstantText?

    /// The protocol's version, such as `1.2` or `1.3`.
    var version: String? { protocolName.flatMap { Self.version(in: $0.string) } }

    /// The cipher suite, as the TLS library calls it.
    var cipher: String? { cipherName?.string }

    /// - Parameter name: A name as TLS libraries spell it: `TLSv1.3`, `TLS1.3`, and `TLSv1` for 1.0.
    static func version(in name: String) -> String? {
        let number = name.drop { !$0.isNumber }
        return number.isEmpty ? nil : number.contains(".") ? String(number) : "\(number).0"
    }
}

/// A text that a library keeps for the life of the process. Read on demand.
///
/// @unchecked: no thread ever writes it.
@safe struct ConstantText: @unchecked Sendable {
    private let bytes: UnsafePointer<CChar>

    init?(_ bytes: UnsafePointer<CChar>?) {
        guard let bytes = unsafe bytes else { return nil }
        unsafe self.bytes = bytes
    }

    var string: String { unsafe String(cString: bytes) }
}
