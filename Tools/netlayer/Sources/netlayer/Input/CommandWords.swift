/// The words of a command line of `fetch` or `compare`, as curl reads them.
enum CommandWords {
    /// Returns the words with values that follow a short option at once (`-XPUT`) in words of their own: the argument
    /// parser would cut them at a `=`, and its message then show what is before. The parts of a body keep their order,
    /// since all of them but files are those of one option then.
    static func separated(_ words: [String]) -> [String] {
        guard ["fetch", "compare", "record", "replay"].contains(words.first) else { return words }
        var separated: [String] = []
        var isValue = false
        for (index, word) in words.enumerated() {
            if word == "--", !isValue { return separated + words[index...] }
            let bytes = Array(word.utf8)
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if isValue {
                separated.append(word)
            } else if bytes.count > 2, bytes[0] == UInt8(ascii: "-"), ValueFlag.letters.contains(bytes[1]) {
                let value = String(decoding: bytes[2...], as: UTF8.self)
                separated += [body(String(decoding: bytes[..<2], as: UTF8.self), value), value]
            } else if parts.count == 2, parts[0].hasBytePrefix("--") {
                separated.append("\(body(String(parts[0]), String(parts[1])))=\(parts[1])")
            } else {
                separated.append(index + 1 < words.count ? body(word, words[index + 1]) : word)
            }
            isValue = !isValue && ValueFlag.dashNames.contains(word)
        }
        return separated
    }

    /// Returns the option for a part of a body that is no file; any other option as it is.
    private static func body(_ option: String, _ value: String) -> String {
        let isPart = ["-d", "--data", "--data-ascii", "--data-binary"].contains(option)
        return isPart && !value.hasBytePrefix("@") ? "--data-raw" : option
    }

    /// The longest word that a message repeats, in bytes.
    private static let maximumShown = 16

    /// Returns a message of the argument parser, which repeats words, without what may be a secret in them: what
    /// follows the letter of a short option or the `=` of a long one, and long words.
    static func hidingValues(of words: [String], in message: String) -> String {
        let secrets = words.flatMap { word -> [(text: [UInt8], shown: [UInt8])] in
            let bytes = Array(word.utf8)
            let mark = Array("…".utf8)
            if word.hasBytePrefix("--"), !word.hasBytePrefix("---") {
                // The option's name may be shown; the value after '=' may not.
                let name = bytes.prefix { $0 != UInt8(ascii: "=") }
                let value = Array(bytes.dropFirst(name.count + 1))
                return value.count > maximumShown ? [(value, mark)] : []
            }
            // The parser cuts a word at a '='.
            let parts = [bytes, Array(bytes.prefix { $0 != UInt8(ascii: "=") })]
            if word.hasBytePrefix("-") {
                return parts.filter { $0.count > 2 }.map { ($0, $0[..<2] + mark) }
                    + parts.map { Array($0.dropFirst(2)) }.filter { $0.count > maximumShown }.map { ($0, mark) }
            }
            return parts.filter { $0.count > maximumShown }.map { ($0, mark) }
        }
        let shown = secrets.reduce(Array(message.utf8)) { $0.replacing($1.text, with: $1.shown) }
        return String(decoding: shown, as: UTF8.self)
    }

    /// Returns what to use in place of an option of curl that a message of the argument parser says to be unknown.
    static func advice(on message: String) -> String? {
        let ways = [
            "-k --insecure": "certificates are always checked; --cacert FILE trusts the server's own authority",
            "-w --write-out": "--as-json prints status, times and addresses",
            "-Z --parallel": "'netlayer run' sends many requests at once",
            "-c": "--cookie-jar FILE reads cookies from a file and writes them back",
            "-K --config": "'netlayer run' reads requests from a file",
            "-D --dump-header": "--include prints the head, and --as-json has it",
            "-# --progress-bar": "a bar is shown wherever standard error is a terminal and the body is not",
            "-N --no-buffer": "bytes are printed as they arrive",
            "--ntlm --negotiate --proxy-ntlm --proxy-negotiate": "--digest and --basic are the schemes",
        ]
        let unknown = ways.first {
            $0.key.split(separator: " ").contains { message.contains("Unknown option '\($0)'") }
        }
        return unknown.map { "In place of curl's option: \($0.value)." }
    }
}

/// An option that takes a value, as far as more than its own command has to know of it. One table for all commands: a
/// test compares it with what the argument parser knows.
struct ValueFlag: Sendable {
    let names: [String]
    /// Whether the value may be a secret, or hold one: then no report shows it.
    let isSecret: Bool
    /// Whether the value may begin with a dash.
    let takesDashes: Bool

    private init(_ names: String, secret: Bool = false, dashes: Bool = false) {
        (self.names, isSecret, takesDashes) = (names.split(separator: " ").map(String.init), secret, dashes)
    }

    static let all = [
        // The request.
        ValueFlag("-H --header", secret: true, dashes: true),
        ValueFlag(
            "-d --data --data-ascii --data-binary --data-raw --data-urlencode --json", secret: true, dashes: true),
        ValueFlag("-F --form", secret: true, dashes: true),
        ValueFlag("-b --cookie", secret: true, dashes: true),
        ValueFlag("-A --user-agent -e --referer", secret: true),
        ValueFlag("-r --range", dashes: true),
        ValueFlag("-X --request -T --upload-file"),
        // Credentials.
        ValueFlag("-u --user --bearer --oauth2-bearer --aws-sigv4 -E --cert", secret: true),
        ValueFlag("--pass", secret: true, dashes: true),
        ValueFlag("--bearer-env --bearer-file --cookie-jar"),
        // The proxy.
        ValueFlag("-x --proxy -U --proxy-user", secret: true),
        ValueFlag("--proxy-header", secret: true, dashes: true),
        ValueFlag("--noproxy --proxy-cacert --proxy-capath"),
        // The connection.
        ValueFlag("--doh-url", secret: true),
        ValueFlag(
            "--connect-timeout --resolve --connect-to --unix-socket --abstract-unix-socket --interface --local-port"),
        ValueFlag("--keepalive-time --keepalive-cnt --happy-eyeballs-timeout-ms --expect100-timeout"),
        ValueFlag("--limit-rate --speed-limit --speed-time"),
        ValueFlag("--cacert --capath --key --pinnedpubkey --tls-max --ciphers --tls13-ciphers --curves --sigalgs"),
        // The call.
        ValueFlag("-m --max-time --timeout -o --output --max-body --checksum --max-redirects --retry --transport"),
        // Many requests.
        ValueFlag("--exec --from-curl", secret: true),
        ValueFlag("--input -n --requests -c --concurrency --rate --time --until --processes --warm-up --weight --seed"),
        ValueFlag("--arm --baseline --save --html --junit --fail-on --fail-if --max-recorded"),
    ]

    /// The names of the options whose values no report shows.
    static let secretNames = Set(all.filter(\.isSecret).flatMap(\.names))
    /// The names of the options whose values may begin with a dash.
    static let dashNames = Set(all.filter(\.takesDashes).flatMap(\.names))
    /// The short options, without their dash.
    static let letters = Set(all.flatMap(\.names).filter { !$0.hasPrefix("--") }.compactMap(\.utf8.last))
}
