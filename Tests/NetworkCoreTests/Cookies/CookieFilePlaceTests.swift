import Foundation
import Synchronization
import TestSupport
import Testing

@testable import NetworkCore

@Suite("A cookie file is written to its path's target")
struct CookieFilePlaceTests {
    private let jar = CookieJar(publicSuffixes: .builtIn)

    init() throws { try jar.set(CookieJar.Cookie(name: "n", value: "v", domain: "a.test")) }

    @Test(arguments: [true, false]) func `a link stays a link`(leadsToAFile: Bool) throws {
        try withFolder { folder in
            if leadsToAFile { try Data().write(to: URL(filePath: folder + "/target")) }
            try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "target")
            try jar.save(to: folder + "/link")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/link") == "target")
            #expect(try String(contentsOfFile: folder + "/target", encoding: .utf8) == jar.netscape)
        }
    }

    @Test func `a pipe stays a pipe`() throws {
        try withFolder { folder in
            let path = folder + "/pipe"
            try #require(mkfifo(path, 0o600) == 0)
            let pipe = try SystemFile(opening: path, O_RDWR)
            defer { #expect(throws: Never.self) { try pipe.close() } }
            try jar.save(to: path)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["pipe"])
            let status = try #require(try SystemFile.status(of: path))
            #expect(status.st_mode & S_IFMT == S_IFIFO)
            guard status.st_mode & S_IFMT == S_IFIFO else { return }
            #expect(String(decoding: try pipe.read(), as: UTF8.self) == jar.netscape)
        }
    }

    /// Regression: on a thread that does not block SIGPIPE, such as the main one, the process ended.
    @Test func `a pipe without a reader is an error on any thread`() async throws {
        var (ends, signals) = ([Int32](repeating: 0, count: 2), sigset_t())
        try #require(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        sigaddset(&signals, SIGXFSZ)
        let (results, result) = AsyncStream<NetworkError.Code?>.makeStream()
        let thread = Thread { [jar, path = "/dev/fd/\(ends[1])", signals] in
            var (wanted, mask) = (signals, sigset_t())
            pthread_sigmask(SIG_UNBLOCK, &wanted, nil)
            do {
                try jar.save(to: path)
                result.yield(nil)
            } catch {
                result.yield((error as? NetworkError)?.code)
            }
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            // The thread's own mask is as before.
            result.yield(sigismember(&mask, SIGPIPE) == 0 && sigismember(&mask, SIGXFSZ) == 0 ? .cancelled : nil)
            result.finish()
        }
        thread.start()
        let codes = await results.reduce(into: []) { $0.append($1) }
        #expect(codes == [.unwritableFile, .cancelled])
    }

    /// To read one may take without end, as with a standard output that the same process writes.
    @Test(.timeLimit(.minutes(1))) func `a pipe and a device are not read`() throws {
        try withFolder { folder in
            let path = folder + "/pipe"
            try #require(mkfifo(path, 0o600) == 0)
            for isHeld in [false, true] {
                let pipe = isHeld ? try SystemFile(opening: path, O_RDWR) : nil
                defer { #expect(throws: Never.self) { try pipe?.close() } }
                for path in [path, "/dev/zero"] {
                    #expect(try CookieJar(file: path, publicSuffixes: .builtIn).cookies.isEmpty)
                    let error = expectFailure(.unreadableFile) { try jar.load(path) }
                    #expect(error?.underlying?.message == "it is not a regular file", "\(error as Any)")
                }
            }
        }
    }

    @Test func `a folder and a loop are refused, and left alone`() throws {
        try withFolder { folder in
            try FileManager.default.createSymbolicLink(atPath: folder + "/a", withDestinationPath: "a")
            for (path, code) in [(folder, EISDIR), (folder + "/a", ELOOP), ("", ENOENT)] {
                let error = #expect(throws: NetworkError.self) { try jar.save(to: path) }
                #expect(error?.code == .unwritableFile && error?.underlying?.code == Int(code), "\(path)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a"])
        }
    }

    /// Regression: a user who had put an empty file into a shared folder got root's cookies.
    @Test(.enabled(if: geteuid() == 0)) func `a replaced file's owner gets no cookies`() throws {
        try withFolder { folder in
            try jar.save(to: folder + "/jar")
            try #require(chown(folder + "/jar", 12_345, 54_321) == 0)
            try jar.save(to: folder + "/jar")
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/jar")
            #expect(attributes[.ownerAccountID] as? Int == Int(geteuid()))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func `a file in Latin-1 is read, and written as UTF-8`() throws {
        try withFolder { folder in
            let lines: [[UInt8]] = [
                Array("a.test\tFALSE\t/\tFALSE\t0\tlatin\tcaf".utf8) + [0xE9],
                Array("a.test\tFALSE\t/\tFALSE\t0\tn".utf8) + [0xE9] + Array("\tx".utf8),
                Array("a.test\tFALSE\t/\tFALSE\t0\tutf\tcafé".utf8),
            ]
            let bytes = Data("# Netscape HTTP Cookie File\n".utf8) + Data(lines.joined(separator: [0x0A])) + [0x0A]
            try bytes.write(to: URL(filePath: folder + "/jar"))
            let jar = CookieJar(publicSuffixes: .builtIn)
            try jar.load(folder + "/jar")
            try jar.save(to: folder + "/jar")
            #expect(try String(contentsOfFile: folder + "/jar", encoding: .utf8) == jar.netscape)
            #expect(jar.cookies.map(\.value) == ["café", "x", "café"])
        }
    }

    /// Cookies that a server may set and a request may carry survive the process.
    @Test(arguments: ["a b=1", "a=b\tc", "a=b c", "a=\"b, c\"", "a=b=c", "\u{E9}=1", "a=", "a!#$%&'*+-.^_`|~=1"])
    func `a server's cookie comes back from its file`(field: String) throws {
        try withFolder { folder in
            let jar = CookieJar(publicSuffixes: .builtIn)
            jar.take([.setCookie: field], from: try RequestURL("http://a.test/"))
            try #require(jar.cookies.count == 1)
            try jar.save(to: folder + "/jar")
            let other = CookieJar(publicSuffixes: .builtIn)
            try other.load(folder + "/jar")
            #expect(other.cookies == jar.cookies)
            // Cookies from the file may also be set by the caller.
            for cookie in jar.cookies { #expect(throws: Never.self) { try other.set(cookie) } }
        }
    }

    @Test func `an expired cookie keeps no other away`() throws {
        let now = Guarded(Date(timeIntervalSince1970: 1_000_000))
        let jar = CookieJar(publicSuffixes: .builtIn, now: { now.withLock { $0 } })
        jar.take([.setCookie: "a=secret; Secure; Max-Age=10"], from: try RequestURL("https://a.test/"))
        jar.take([.setCookie: "a=plain"], from: try RequestURL("http://a.test/"))
        #expect(jar.cookies.map(\.value) == ["secret"])
        now.withLock { $0 += 11 }
        jar.take([.setCookie: "a=plain"], from: try RequestURL("http://a.test/"))
        #expect(jar.cookies.map(\.value) == ["plain"])
    }
}
