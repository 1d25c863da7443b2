import Foundation
import NetworkCore
import TestSupport
import Testing

/// Puts secrets of every kind in each place a caller or a server can fill, and checks that no printer shows one.
@Suite("The canary", .patience(minutes: 5))
struct CanaryTests {
    static let places = CanaryPlace.requests + CanaryPlace.options + CanaryPlace.answers + CanaryPlace.testing

    @Test(arguments: places.indices)
    func `no value shows a secret that a caller or a server has put into it`(place: Int) {
        let place = Self.places[place]
        for secret in CanarySecret.all {
            for value in place.exhibits(secret) { Self.check(value, secret, place.name) }
        }
    }

    @Test(arguments: CanaryExchange.all.indices)
    func `no log, error, or curl command shows a secret of an exchange`(exchange: Int) async {
        let exchange = CanaryExchange.all[exchange]
        for secret in CanarySecret.all {
            let (values, log) = await exchange.run(secret)
            Self.expectNone(of: secret, in: log, exchange.name, "a log")
            for value in values { Self.check(value, secret, exchange.name) }
        }
    }

    @Test
    func `the matrix has the expected size`() {
        let (secrets, printers) = (CanarySecret.all.count, CanaryPrinter.all.count)
        let places = Self.places.count + CanaryExchange.all.count
        print("canary: \(secrets) secrets × \(places) places × \(printers) printers, logs and curl commands besides")
        #expect(secrets >= 30 && places >= 100 && printers >= 20)
        #expect(Set(CanarySecret.all.map(\.value)).count == secrets)
    }

    @Test(arguments: CanarySecret.all)
    func `the canary finds a secret in every form`(secret: CanarySecret) {
        struct Leaky: Error {
            let text: String
            let bytes: Data
        }
        let leaky = Leaky(text: secret.value, bytes: secret.data)
        for printer in CanaryPrinter.all where !["localizedDescription", "NSError"].contains(printer.name) {
            #expect(!secret.forms(in: printer.text(leaky)).isEmpty, "\(printer.name)")
        }
        for text in [
            secret.percentEncoded, secret.data.base64EncodedString(), "x" + secret.value.uppercased(),
            "\(Array(secret.data))",
        ] {
            #expect(!secret.forms(in: text).isEmpty)
        }
    }

    /// Searches the texts of all printers at once, and only on a hit finds out which printer it was.
    private static func check(_ value: Any, _ secret: CanarySecret, _ place: String) {
        let all = CanaryPrinter.all.map { $0.text(value) }.joined(separator: "\n")
        guard !secret.forms(in: all).isEmpty || steers(all) else { return }
        for printer in CanaryPrinter.all {
            expectNone(of: secret, in: printer.text(value), place, "\(printer.name) of \(type(of: value))")
        }
    }

    private static func expectNone(of secret: CanarySecret, in text: String, _ place: String, _ printer: String) {
        let forms = secret.forms(in: text)
        if !forms.isEmpty { Issue.record("\(secret.kind) in \(place): \(printer) shows \(forms): \(text.prefix(300))") }
        if steers(text) { Issue.record("\(secret.kind) in \(place): \(printer) has control characters") }
    }

    /// Returns whether a terminal would act upon the text: on any control character except LF and tab.
    private static func steers(_ text: String) -> Bool {
        var last: UInt8 = 0
        for byte in text.utf8 {
            if byte < 0x20 && byte != 0x0A && byte != 0x09 || byte == 0x7F { return true }
            if last == 0xC2, byte < 0xA0 { return true }
            last = byte
        }
        return false
    }
}
