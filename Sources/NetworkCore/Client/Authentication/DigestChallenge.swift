import FoundationEssentials

/// A Digest challenge and the response to it (RFC 7616). Pure.
struct DigestChallenge: Sendable {
    enum Algorithm: String, CaseIterable {
        case sha256 = "SHA-256"
        case sha256Session = "SHA-256-sess"
        case md5 = "MD5"
        case md5Session = "MD5-sess"

        var isSession: Bool { self == .sha256Session || self == .md5Session }

        func hexadecimal(_ text: String) -> String {
            switch self {
            case .md5, .md5Session: MD5.digest(text.utf8).hexadecimal
            case .sha256, .sha256Session: SHA256Checksum.digest(text.utf8).hexadecimal
            }
        }
    }

    let algorithm: Algorithm
    /// Whether only the challenge's nonce was too old, and not the password wrong.
    let isStale: Bool
    private let realm: String
    private var nonce: String
    private let opaque: String?
    /// Without a quality the nonce has no count, and each request looks like a replay.
    let hasQuality: Bool
    private let hashesUser: Bool
    /// Whether the challenge names its algorithm, which the response then repeats.
    private let namesAlgorithm: Bool

    /// The limit on the texts of a challenge together, in bytes. The request repeats them in one field.
    private static let maximumTextBytes = 16_384

    /// `nil` for another scheme, and for a challenge without a nonce, with another hash, with another quality of
    /// protection than `auth`, of a session without one (the server would not get the client's nonce), or of enormous
    /// texts.
    init?(_ challenge: AuthenticationChallenge) {
        guard challenge.scheme == "digest", let nonce = challenge["nonce"] else { return nil }
        let name = challenge["algorithm"] ?? Algorithm.md5.rawValue
        guard
            let algorithm = Algorithm.allCases.first(where: {
                $0.rawValue.lowercasedASCII == name.lowercasedASCII
            })
        else { return nil }
        if let qualities = challenge["qop"] {
            let names = qualities.split { $0 == "," || $0 == " " || $0 == "\t" }.map { String($0).lowercasedASCII }
            guard names.contains("auth") else { return nil }
        }
        if algorithm.isSession, challenge["qop"] == nil { return nil }
        self.algorithm = algorithm
        self.nonce = nonce
        realm = challenge["realm"] ?? ""
        opaque = challenge["opaque"]
        let bytes = nonce.utf8.count + realm.utf8.count + (opaque?.utf8.count ?? 0)
        guard bytes <= Self.maximumTextBytes else { return nil }
        hasQuality = challenge["qop"] != nil
        hashesUser = challenge["userhash"]?.lowercasedASCII == "true"
        isStale = challenge["stale"]?.lowercasedASCII == "true"
        namesAlgorithm = challenge["algorithm"] != nil
    }

    func authorization(
        user: String, password: String, method: String, target: String, clientNonce: String, count number: Int = 1
    ) -> String {
        let hash = algorithm.hexadecimal
        var secret = hash("\(user):\(realm):\(password)")
        if algorithm.isSession { secret = hash("\(secret):\(nonce):\(clientNonce)") }
        let request = hash("\(method):\(target)")
        let digits = String(number, radix: 16)
        let count = String(repeating: "0", count: max(0, 8 - digits.utf8.count)) + digits
        let proof =
            hasQuality
            ? hash("\(secret):\(nonce):\(count):\(clientNonce):auth:\(request)") : hash("\(secret):\(nonce):\(request)")
        var parts = [
            "username=\(Self.quoted(hashesUser ? hash("\(user):\(realm)") : user))", "realm=\(Self.quoted(realm))",
            "nonce=\(Self.quoted(nonce))", "uri=\(Self.quoted(target))", "response=\"\(proof)\"",
        ]
        if hashesUser { parts.append("userhash=true") }
        if namesAlgorithm { parts.append("algorithm=\(algorithm.rawValue)") }
        if let opaque { parts.append("opaque=\(Self.quoted(opaque))") }
        if hasQuality { parts += ["qop=auth", "nc=\(count)", "cnonce=\"\(clientNonce)\""] }
        return "Digest " + parts.joined(separator: ", ")
    }

    /// The challenge with the nonce that the server wants next (RFC 7616 §3.5).
    func following(nonce next: String) -> DigestChallenge? {
        guard !algorithm.isSession, next.utf8.count <= Self.maximumTextBytes else { return nil }
        var challenge = self
        challenge.nonce = next
        return challenge
    }

    private static func quoted(_ text: String) -> String {
        // By scalars: a mark that combines with a quote would hide it among the characters.
        "\"" + text.unicodeScalars.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : "\($0)" }.joined() + "\""
    }
}
