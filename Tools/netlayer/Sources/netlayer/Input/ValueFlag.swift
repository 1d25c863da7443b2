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
        ValueFlag(
            "--keepalive-time --keepalive-cnt --happy-eyeballs-timeout-ms --limit-rate --speed-limit --speed-time"),
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
