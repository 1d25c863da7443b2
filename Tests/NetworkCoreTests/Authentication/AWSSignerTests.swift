import Foundation
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import NetworkCore

/// The first signatures are those of Amazon's test suite for Signature Version 4; the others are botocore's for the
/// same requests.
@Suite("AWS signatures")
struct AWSSignerTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        var service = "service"
        var method = HTTPRequest.Method.get
        let url: String
        var fields: [(String, String)] = []
        var body: String?
        let signed: String
        let signature: String
        var testDescription: String { "\(service): \(method) \(url)" }
    }

    static let vectors = [
        Vector(
            url: "https://example.amazonaws.com/", signed: "host;x-amz-date",
            signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        Vector(
            url: "https://example.amazonaws.com/?Param2=value2&Param1=value1", signed: "host;x-amz-date",
            signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        Vector(
            method: .post, url: "https://example.amazonaws.com/",
            fields: [("Content-Type", "application/x-www-form-urlencoded")], body: "Param1=value1",
            signed: "content-type;host;x-amz-date",
            signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
        Vector(
            url: "https://example.amazonaws.com/a%20b//c%2fd/", signed: "host;x-amz-date",
            signature: "d62c63179c7242acb84fc79050a4e0572e1d55155641477ebd888776d36d4b0e"),
        Vector(
            url: "https://example.amazonaws.com/", fields: [("X-Amz-Meta", "a   b")],
            signed: "host;x-amz-date;x-amz-meta",
            signature: "7c0fd6f59be51c31efb3658cb54d63f59a978b467236091a8656c5c580e7d4f6"),
        Vector(
            service: "s3", url: "https://examplebucket.s3.amazonaws.com/test.txt",
            signed: "host;x-amz-content-sha256;x-amz-date",
            signature: "bbfdf4d3c3eab24da182f8f790e0c7d8e2a20658191717a6546076effa9f5a5e"),
        Vector(
            service: "s3", method: .put, url: "https://examplebucket.s3.amazonaws.com/a%20b//c~d%2A?x=%24y&acl",
            fields: [("Content-Type", "text/plain")], body: "Welcome",
            signed: "content-type;host;x-amz-content-sha256;x-amz-date",
            signature: "a81dbce0f328fc0bb359c1306b6f4881d5f7c1d8a3716926dada888d38a236bf"),
        // A body of this size went out with the signature of an empty one.
        Vector(
            service: "dynamodb", method: .post, url: "https://dynamodb.us-east-1.amazonaws.com/",
            fields: [("Content-Type", "application/x-amz-json-1.0"), ("X-Amz-Target", "T.List")],
            body: String(repeating: "x", count: 20_000), signed: "content-type;host;x-amz-date;x-amz-target",
            signature: "14e61dddba7fcdfd5a791c4676a2de6f25b3196c36cc3251c5f34dda0555664c"),
    ]

    /// 2015-08-30T12:36:00Z.
    private static let seconds = 1_440_938_160

    private static func key(_ service: String?, region: String? = "us-east-1")
        -> TransportOptions.Authentication
        .AWSSignature
    {
        .init(
            keyID: "AKIDEXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", region: region,
            service: service)
    }

    private func request(_ vector: Vector) throws -> TransportRequest {
        var request = TransportRequest(method: vector.method, url: try RequestURL(vector.url))
        for (name, value) in vector.fields { request.headerFields.append(try HTTPField(checking: name, value: value)) }
        request.body = vector.body.map { .bytes(Data($0.utf8)) }
        return request
    }

    @Test(arguments: vectors) func `a signature is Amazon's`(vector: Vector) async throws {
        let signed = try await request(vector).signed(by: Self.key(vector.service), seconds: Self.seconds)
        let value = try #require(signed.headerFields[.authorization])
        let scope = "20150830/us-east-1/\(vector.service)/aws4_request"
        #expect(value.hasPrefix("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\(scope), "))
        #expect(value.hasSuffix("SignedHeaders=\(vector.signed), Signature=\(vector.signature)"), "\(value)")
        #expect(signed.options.authentication == nil)
    }

    @Test func `region and service come from the host's name`() async throws {
        let vector = try #require(Self.vectors.last)
        var request = try request(vector)
        let signed = try await request.signed(by: Self.key(nil, region: nil), seconds: Self.seconds)
        #expect(signed.headerFields[.authorization]?.hasSuffix(vector.signature) == true)
        request.url = try RequestURL("https://dynamodb.cn-north-1.amazonaws.com.cn/")
        let chinese = try await request.signed(by: Self.key(nil, region: nil), seconds: Self.seconds)
        #expect(chinese.headerFields[.authorization]?.contains("/cn-north-1/dynamodb/aws4_request, ") == true)
    }

    /// Regression: the first labels of any host were taken, so that a bucket was the service.
    @Test(arguments: [
        "localhost", "api.eu-central-1.example.com", "examplebucket.s3.eu-central-1.amazonaws.com",
        "examplebucket.s3.amazonaws.com", "examplebucket.s3-eu-west-1.amazonaws.com", "amazonaws.com",
        "dynamodb.us-east-1.amazonaws.com.example",
    ])
    func `another host's name gives neither region nor service`(host: String) async throws {
        let request = TransportRequest(url: try RequestURL("https://\(host)/"))
        for region in [nil, "eu-central-1"] {
            let error = await expectFailure(.invalidOption) {
                try await request.signed(by: Self.key(nil, region: region), seconds: Self.seconds)
            }
            #expect(error?.message.hasPrefix("authentication.service") == true)
        }
        let signed = try await request.signed(by: Self.key("s3", region: "eu-central-1"), seconds: Self.seconds)
        #expect(signed.headerFields[.authorization]?.contains("/eu-central-1/s3/aws4_request, ") == true)
    }

    @Test func `a host without a region names the service, and another vendor's host both`() async throws {
        let global = TransportRequest(url: try RequestURL("https://sts.amazonaws.com/"))
        let signed = try await global.signed(by: Self.key(nil, region: "us-east-1"), seconds: Self.seconds)
        #expect(signed.headerFields[.authorization]?.contains("/us-east-1/sts/aws4_request, ") == true)
        let error = await expectFailure(.invalidOption) {
            try await global.signed(by: Self.key(nil, region: nil), seconds: Self.seconds)
        }
        #expect(error?.message.hasPrefix("authentication.region") == true)
        var key = Self.key(nil, region: nil)
        key.provider = "osc"
        let other = TransportRequest(url: try RequestURL("https://fcu.eu-west-2.outscale.com/"))
        let theirs = try await other.signed(by: key, seconds: Self.seconds)
        #expect(theirs.headerFields[.authorization]?.contains("/eu-west-2/fcu/osc4_request, ") == true)
    }

    /// A stream that can be sent again is read for its hash; of a one-time stream there is none.
    @Test func `a stream is hashed if it can be sent again`() async throws {
        let vector = try #require(Self.vectors.last)
        let bytes = Data((vector.body ?? "").utf8)
        var request = try request(vector)
        request.body = .replayableStream {
            AsyncStream {
                for piece in [bytes.prefix(7), bytes.dropFirst(7)] { $0.yield(piece) }
                $0.finish()
            }
        }
        let signed = try await request.signed(by: Self.key("dynamodb"), seconds: Self.seconds)
        #expect(signed.headerFields[.authorization]?.hasSuffix(vector.signature) == true)

        request.body = .stream(AsyncStream { $0.finish() })
        let once = request
        await expectFailure(.unsupported) { try await once.signed(by: Self.key("dynamodb"), seconds: Self.seconds) }
        let name = try #require(HTTPField.Name("X-Amz-Content-Sha256"))
        let unsigned = try await once.signed(by: Self.key("s3"), seconds: Self.seconds)
        #expect(unsigned.headerFields[name] == "UNSIGNED-PAYLOAD")
        request.headerFields[name] = "abc"
        let given = try await request.signed(by: Self.key("dynamodb"), seconds: Self.seconds)
        #expect(given.headerFields[name] == "abc")
    }

    @Test func `the hash is that of the compressed bytes that are sent`() async throws {
        let bytes = PatternBytes.make(count: 300_000)
        var request = try TransportRequest(method: .put, to: "http://a/")
        request.options.requestCompression = .gzip(level: 6)
        request.body = .replayableStream(length: bytes.count) {
            AsyncStream { stream in
                for start in stride(from: 0, to: bytes.count, by: 70_000) {
                    stream.yield(Data(bytes[start...].prefix(70_000)))
                }
                stream.finish()
            }
        }
        let signed = try await request.signed(by: Self.key("s3"), seconds: Self.seconds)
        let name = try #require(HTTPField.Name("X-Amz-Content-Sha256"))
        #expect(signed.wireFields[values: .contentEncoding] == ["gzip"])
        let sent = try await #require(try signed.wireBody()).collect(upTo: .max)
        #expect(signed.headerFields[name] == SHA256Checksum.digest(sent).hexadecimal)
    }

    /// Regression: nothing ended the wait for a body that never came.
    @Test func `a body that stalls ends with its timeout`() async throws {
        var request = try request(Self.vectors[0])
        request.body = .replayableStream { AsyncStream<Data> { _ in } }
        for (total, code) in [
            (Duration.milliseconds(30), NetworkError.Code.totalTimeout), (.seconds(60), .idleTimeout),
        ] {
            request.options.totalTimeout = total
            request.options.idleTimeout = .milliseconds(50)
            let stalled = request
            await expectFailure(code) { try await stalled.signed(by: Self.key("service"), seconds: Self.seconds) }
        }
    }

    /// The signature is the same as without them: libcurl sends neither the port nor the long form.
    @Test func `the host is signed as it is sent`() async throws {
        let vector = Self.vectors[0]
        var request = try request(vector)
        request.url = try RequestURL("https://example.amazonaws.com:443/")
        let signed = try await request.signed(by: Self.key("service"), seconds: Self.seconds)
        #expect(signed.headerFields[.authorization]?.hasSuffix(vector.signature) == true)
        request.url = try RequestURL("http://[0:0::1]:8080/")
        let named = try await request.signed(by: Self.key("service"), seconds: Self.seconds)
        #expect(named.headerFields[try #require(HTTPField.Name("Host"))] == request.url.authority)
    }

    /// URLSession sends repeated fields as one.
    @Test func `repeated fields are one`() async throws {
        let name = try #require(HTTPField.Name("X-Amz-Meta"))
        var request = try request(Self.vectors[0])
        request.headerFields.append(HTTPField(name: name, value: "a"))
        request.headerFields.append(HTTPField(name: name, value: "b"))
        let signed = try await request.signed(by: Self.key("service"), seconds: Self.seconds)
        #expect(signed.headerFields[values: name] == ["a,b"])
    }

    @Test func `another vendor has names of its own`() async throws {
        var key = Self.key("api")
        key.provider = "osc"
        let request = TransportRequest(url: try RequestURL("https://api.example/"))
        let signed = try await request.signed(by: key, seconds: Self.seconds)
        #expect(signed.headerFields[.authorization]?.hasPrefix("OSC4-HMAC-SHA256 Credential=AKIDEXAMPLE/") == true)
        #expect(signed.headerFields[.authorization]?.contains("/osc4_request, SignedHeaders=host;x-osc-date,") == true)
        #expect(signed.headerFields[try #require(HTTPField.Name("X-Osc-Date"))] == "20150830T123600Z")
    }

    @Test func `the caller's time is the signature's`() async throws {
        let name = try #require(HTTPField.Name("X-Amz-Date"))
        var request = try request(Self.vectors[0])
        request.headerFields[name] = "20150830T123600Z"
        let signed = try await request.signed(by: Self.key("service"), seconds: 0)
        #expect(signed.headerFields[.authorization]?.hasSuffix(Self.vectors[0].signature) == true)
        #expect(signed.headerFields[values: name].count == 1)
    }
}
