import FoundationEssentials

extension CookieJar {
    /// The largest cookie file that is loaded, in bytes. A full jar's file has 26 MB at most.
    static let maximumFileBytes = 32 << 20

    /// Creates a jar with the cookies of a file that ``save(to:)`` wrote, or an empty jar if there is no file yet. A
    /// pipe and a device have no cookies either; they are not read.
    /// - Throws: The errors of ``load(_:)``, for a file that exists.
    public convenience init(file path: String, publicSuffixes: PublicSuffixList = .system) throws {
        self.init(publicSuffixes: publicSuffixes)
        if let bytes = try FileText.readIfPresent(path, limit: Self.maximumFileBytes) { try add(lines: bytes) }
    }

    /// Adds the cookies of a file in the Netscape format, which curl writes too. The file must exist, unlike for
    /// ``init(file:publicSuffixes:)``, and is a regular one of at most 32 MiB.
    ///
    /// An expiry date may have a fraction of a second; an empty one is none, as 0 is. Expired cookies, and cookies that
    /// no server could have set, are left out. A cookie lasts at most 400 days from now.
    /// - Throws: ``NetworkError/Code/unreadableFile``, or ``NetworkError/Code/invalidCookieFile``, which names the
    ///   line; no cookie has been added then.
    public func load(_ path: String) throws { try add(lines: FileText.read(path, limit: Self.maximumFileBytes)) }

    /// Writes all cookies to a file in the Netscape format, including those without an expiry date. The file appears
    /// once it is complete, belongs to the process's user, also in place of another user's file, and only its owner may
    /// read it. A symbolic link is followed; a device or a pipe is written to directly.
    ///
    /// The file has this jar's cookies alone afterwards. Of several processes that load and save the same file, the
    /// last to save wins, and what the others have saved meanwhile is lost: give each a file of its own, or lock
    /// another file (flock(2)) from the load to the save.
    /// - Throws: ``NetworkError/Code/unwritableFile``, ``NetworkError/Code/diskFull``.
    public func save(to path: String) throws {
        try FileText.write(Data(netscape.utf8), to: path)
    }

    /// All cookies in the Netscape format, one per line, with the columns separated by tabs: domain, whether subdomains
    /// get the cookie, path, whether it is for TLS only, its expiry in seconds since 1970 (0 for none), name and value.
    public var netscape: String {
        Self.firstLine + cookies.map { Self.line(of: $0) }.joined()
    }

    private static let firstLine = "# Netscape HTTP Cookie File\n"

    private static func line(of cookie: Cookie) -> String {
        [
            "\(cookie.isHTTPOnly ? httpOnlyMark : "")\(cookie.includesSubdomains ? "." : "")\(cookie.domain)",
            cookie.includesSubdomains ? "TRUE" : "FALSE",
            cookie.path,
            cookie.isSecure ? "TRUE" : "FALSE",
            // Rounded up, so that the cookie does not expire early by a fraction of a second.
            cookie.expires.map { String(Int(max(-1e15, min($0.timeIntervalSince1970.rounded(.up), 1e15)))) } ?? "0",
            cookie.name,
            cookie.value,
        ].joined(separator: "\t") + "\n"
    }

    /// Adds the cookies of a text in the Netscape format; see ``load(_:)``.
    /// - Throws: ``NetworkError/Code/invalidCookieFile``.
    public func add(netscape text: String) throws { try add(lines: Data(text.utf8)) }

    private func add(lines bytes: Data) throws {
        var found: [Cookie] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            let text = String(validating: line, as: UTF8.self)
            // As in the fields of a response: text that is not UTF-8 is Latin-1, in which each byte is a character.
            let latin1 = { String(String.UnicodeScalarView(line.map { Unicode.Scalar($0) })) }
            if let cookie = try Self.cookie(text ?? latin1(), number: index + 1) { found.append(cookie) }
        }
        keep(found.filter(accepts))
    }

    private static let httpOnlyMark = "#HttpOnly_"

    /// Returns the cookie of a line; `nil` for a comment or an empty line.
    private static func cookie(_ line: String, number: Int) throws -> Cookie? {
        let isHTTPOnly = line.hasBytePrefix(httpOnlyMark)
        let text = isHTTPOnly ? Substring(line.utf8.dropFirst(httpOnlyMark.utf8.count)) : line[...]
        if !isHTTPOnly, line.isEmpty || line.hasBytePrefix("#") { return nil }
        let columns = text.split(atByte: UInt8(ascii: "\t"), maximumSplits: 6).map(String.init)
        // curl writes an empty value as nothing after the tab; older versions omit the tab as well.
        guard columns.count >= 6 else { throw invalid(number, "has \(columns.count) of 7 columns") }
        guard let includesSubdomains = flag(columns[1]), let isSecure = flag(columns[3]) else {
            throw invalid(number, "has something other than TRUE and FALSE in column 2 or 4")
        }
        // As lenient as curl and Python: browsers' exporters write fractions, and nothing for a session's cookie.
        let end = columns[4].withoutBlanks
        guard let seconds = end.isEmpty ? 0 : Double(end), seconds.isFinite else {
            throw invalid(number, "has no number in column 5")
        }
        return Cookie(
            name: columns[5],
            value: columns.count > 6 ? columns[6] : "",
            domain: SetCookieParser.withoutDot(columns[0]).lowercasedASCII,
            includesSubdomains: includesSubdomains,
            path: columns[2],
            isSecure: isSecure,
            isHTTPOnly: isHTTPOnly,
            expires: seconds == 0 ? nil : Date(timeIntervalSince1970: seconds)
        )
    }

    private static func flag(_ text: String) -> Bool? {
        switch text.lowercasedASCII {
        case "true": true
        case "false": false
        default: nil
        }
    }

    private static func invalid(_ line: Int, _ problem: String) -> NetworkError {
        NetworkError.refused(.invalidCookieFile, "line \(line) of the cookie file \(problem)")
    }
}
