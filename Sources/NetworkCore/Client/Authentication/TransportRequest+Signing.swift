import FoundationEssentials
import HTTPTypes
import Synchronization

extension TransportRequest {
    /// Whether the options have credentials that take more than a header field: a challenge or a signature.
    package var isAuthenticatedInSteps: Bool {
        guard options.hasRareOptions else { return false }
        if case .awsSigV4? = options.authentication { return true }
        return awaitsChallenge
    }

    /// Sends the request with its credentials: in the rounds that a challenge takes, or with a signature.
    package func authenticated(
        remembering nonces: DigestMemory = DigestMemory(),
        _ send: (TransportRequest) async throws -> TransportResponse
    ) async throws -> TransportResponse {
        guard case .awsSigV4(let signature)? = options.authentication else {
            return try await answeringChallenges(remembering: nonces, send)
        }
        try check()
        let signed = try await signed(by: signature, seconds: Int(Date().timeIntervalSince1970))
        return try await signed.answeringChallenges(remembering: nonces, send)
    }

    func signed(
        by signature: TransportOptions.Authentication.AWSSignature, seconds: Int
    ) async throws -> TransportRequest {
        var request = self
        request.options.authentication = nil
        request.credentials = nil
        request.headerFields[.authorization] = nil
        request.url = url.withComparableEscapes(inQuery: false)
        var signer = try AWSSigner(signature, host: url.host, seconds: seconds)
        let (date, content) = (try name(signer.fieldName("Date")), try name(signer.fieldName("Content-Sha256")))
        if let time = headerFields[date] { signer.time = time }
        request.headerFields[date] = signer.time
        // libcurl writes an IPv6 address in its shortest form.
        if url.host.hasPrefix("["), !headerFields.contains(.host) { request.headerFields[.host] = url.authority }
        request.joinRepeatedFields(where: signer.isSigned)
        let hash: String
        if let given = headerFields[content] {
            hash = given
        } else {
            hash = try await request.contentHash(isS3: signer.isS3)
            if signer.isS3 { request.headerFields[content] = hash }
        }
        request.headerFields[.authorization] = signer.authorization(
            method: method, url: request.url, fields: request.wireFields, contentHash: hash)
        return request
    }

    private func name(_ text: String) throws -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else {
            throw OptionCheck.invalid("authentication.provider", "is not part of a field's name")
        }
        return name
    }

    /// Returns the hash of the body as it is sent, or for S3 what stands for one that is not known.
    private mutating func contentHash(isS3: Bool) async throws -> String {
        let start = ContinuousClock.now
        guard let body = try wireBody() else { return SHA256Checksum.digest([]).hexadecimal }
        // Compressing and hashing share one timeout.
        if let total = options.totalTimeout {
            options.totalTimeout = max(
                .nanoseconds(1), min(total, TransportOptions.maximumTimeout) - start.duration(to: .now))
        }
        guard body.isReplayable else {
            if isS3 { return "UNSIGNED-PAYLOAD" }
            throw NetworkError.refused(
                .unsupported,
                "an AWS signature has the hash of the body, which is not known of a one-time stream; send bytes, a "
                    + "file or a stream that can be sent again, or set X-Amz-Content-Sha256")
        }
        let checksum = Guarded(SHA256Checksum())
        try await readAhead(body, named: "the body to be signed") { chunk in checksum.withLock { $0.update(chunk) } }
        return checksum.withLock { $0.finish() }.hexadecimal
    }

    /// Joins the values of repeated fields, which a transport may send as one, and a service reads as one.
    private mutating func joinRepeatedFields(where isJoined: (HTTPField.Name) -> Bool) {
        for name in Set(headerFields.map(\.name)) where isJoined(name) {
            let values = headerFields[values: name]
            if values.count > 1 { headerFields[name] = values.joined(separator: ",") }
        }
    }
}
