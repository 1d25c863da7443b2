import FoundationEssentials
import HTTPTypes

/// The signature of a request by AWS Signature Version 4
/// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html). Pure.
struct AWSSigner {
    private let signature: TransportOptions.Authentication.AWSSignature
    private let region: String
    private let service: String
    /// The first and the second vendor of the provider, such as `aws` and `amz`.
    private let vendors: (first: String, second: String)
    var time: String

    init(_ signature: TransportOptions.Authentication.AWSSignature, host: String, seconds: Int) throws {
        self.signature = signature
        let names = signature.provider.split(separator: ":").map { String($0).lowercasedASCII }
        vendors = (names.first ?? "aws", names.count > 1 ? names[1] : names.first ?? "amz")
        let named = vendors.first == "aws" ? Self.named(byAmazons: host) : Self.named(by: host)
        guard let service = signature.service ?? named.service else {
            throw OptionCheck.invalid("authentication.service", "is needed: the host's name does not give it")
        }
        guard let region = signature.region ?? named.region else {
            throw OptionCheck.invalid("authentication.region", "is needed: the host's name does not give it")
        }
        (self.service, self.region) = (service, region)
        time = CivilDate.text(milliseconds: seconds * 1000).filter { $0 != "-" && $0 != ":" }
    }

    /// Returns what `SERVICE.REGION.amazonaws.com` or `SERVICE.amazonaws.com` (or `….com.cn`) names, and nothing for
    /// any other host.
    private static func named(byAmazons host: String) -> (service: String?, region: String?) {
        let labels = host.split(separator: ".").map(String.init)
        let zone = labels.firstIndex(of: "amazonaws") ?? 0
        guard ["amazonaws.com", "amazonaws.com.cn"].contains(labels[zone...].joined(separator: ".")) else {
            return (nil, nil)
        }
        if zone == 1 { return (labels[0], nil) }
        // `bucket.s3.amazonaws.com` and `bucket.s3-accelerate.amazonaws.com` name a bucket and no region.
        return zone == 2 && !labels[1].hasPrefix("s3") ? (labels[0], labels[1]) : (nil, nil)
    }

    private static func named(by host: String) -> (service: String?, region: String?) {
        let labels = host.split(separator: ".").map(String.init)
        return (labels.first, labels.count > 3 ? labels[1] : nil)
    }

    /// Whether the service is S3, whose requests name the hash of their content, and whose paths are encoded once.
    var isS3: Bool { Self.namesOfS3.contains(service) && vendors.first == "aws" }

    private static let namesOfS3: Set<String> = ["s3", "s3express", "s3-outposts", "s3-object-lambda"]

    func fieldName(_ name: String) -> String {
        "X-" + vendors.second.prefix(1).uppercased() + vendors.second.dropFirst() + "-" + name
    }

    func authorization(
        method: HTTPRequest.Method, url: RequestURL, fields: HTTPFields, contentHash: String
    ) -> String {
        let lines = signedLines(fields, host: url.hostField)
        let names = lines.map(\.name).joined(separator: ";")
        let request = [
            method.rawValue, canonicalPath(url.path), Self.canonicalQuery(url.query ?? ""),
            lines.map { "\($0.name):\($0.value)\n" }.joined(), names, contentHash,
        ].joined(separator: "\n")
        let scope = [String(time.prefix(8)), region, service, vendors.first + "4_request"]
        let algorithm = vendors.first.uppercased() + "4-HMAC-SHA256"
        let text = [algorithm, time, scope.joined(separator: "/"), SHA256Checksum.digest(request.utf8).hexadecimal]
            .joined(separator: "\n")
        let secret = Array((vendors.first.uppercased() + "4" + signature.secretKey.value).utf8)
        let key = scope.reduce(secret) { Self.authenticated($1, by: $0) }
        return "\(algorithm) Credential=\(signature.keyID)/\(scope.joined(separator: "/")), SignedHeaders=\(names), "
            + "Signature=\(Self.authenticated(text, by: key).hexadecimal)"
    }

    private func signedLines(_ fields: HTTPFields, host: String) -> [(name: String, value: String)] {
        var lines = fields.filter { isSigned($0.name) }.map {
            (name: $0.name.rawName.lowercasedASCII, value: Self.collapsed($0.value))
        }
        if !lines.contains(where: { $0.name == "host" }) { lines.append(("host", host)) }
        return lines.sorted { $0.name < $1.name }
    }

    func isSigned(_ name: HTTPField.Name) -> Bool {
        let name = name.rawName.lowercasedASCII
        return ["host", "content-type", "content-md5"].contains(name) || name.hasPrefix("x-\(vendors.second)-")
    }

    /// S3 signs each segment encoded once, whatever its escapes are. Other services sign the path as it is sent,
    /// encoded once more, without empty segments.
    private func canonicalPath(_ path: String) -> String {
        let segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard !isS3 else {
            return segments.map { PercentEncoding.component(PercentEncoding.decodedLeniently($0)) }.joined(
                separator: "/")
        }
        let last = segments.count - 1
        let kept = segments.enumerated().filter { !$0.element.isEmpty || $0.offset == 0 || $0.offset == last }
        return kept.count == 1 ? "/" : kept.map { PercentEncoding.component($0.element) }.joined(separator: "/")
    }

    private static func canonicalQuery(_ query: String) -> String {
        let pairs = query.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map { part in
                    // A service reads '+' as a space.
                    let spaced = part.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
                    return PercentEncoding.component(PercentEncoding.decodedLeniently(spaced))
                }
            return (name: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
        return pairs.sorted { ($0.name, $0.value) < ($1.name, $1.value) }.map { "\($0.name)=\($0.value)" }
            .joined(separator: "&")
    }

    // MARK: Bytes

    /// Returns a field's value with blanks as the signature has them: none at its ends, and one for several.
    private static func collapsed(_ value: String) -> String {
        // By bytes: a mark that combines with a blank would hide it among the characters.
        value.utf8.split(whereSeparator: \.isBlank).map { String(Substring($0)) }.joined(separator: " ")
    }

    /// HMAC-SHA256 (RFC 2104).
    private static func authenticated(_ text: String, by key: [UInt8]) -> [UInt8] {
        var block = key.count > 64 ? SHA256Checksum.digest(key) : key
        block += [UInt8](repeating: 0, count: 64 - block.count)
        let inner = SHA256Checksum.digest(block.map { $0 ^ 0x36 } + Array(text.utf8))
        return SHA256Checksum.digest(block.map { $0 ^ 0x5C } + inner)
    }
}

extension RequestURL {
    /// The value of `Host` as any libcurl sends it: without the port that the scheme implies.
    fileprivate var hostField: String { port == (scheme == "https" ? 443 : 80) ? host : authority }
}
