/// Options of curl that are left out on purpose, and the way to what they are for.
enum CurlOptions {
    private static let ways: [(names: [String], way: String)] = [
        (["-k", "--insecure"], "certificates are always checked; --cacert FILE trusts the server's own authority"),
        (["-w", "--write-out"], "--as-json prints status, times and addresses"),
        (["-Z", "--parallel"], "'netlayer run' sends many requests at once"),
        (["-c"], "--cookie-jar FILE reads cookies from a file and writes them back"),
        (["-K", "--config"], "'netlayer run' reads requests from a file"),
        (["-D", "--dump-header"], "--include prints the head, and --as-json has it"),
        (["-#", "--progress-bar"], "a bar is shown wherever standard error is a terminal and the body is not"),
        (["-N", "--no-buffer"], "bytes are printed as they arrive"),
        (["--ntlm", "--negotiate", "--proxy-ntlm", "--proxy-negotiate"], "--digest and --basic are the schemes"),
    ]

    /// Returns what to use in place of an option of curl that the argument parser does not know.
    static func advice(on message: String) -> String? {
        let unknown = ways.first { $0.names.contains { message.contains("Unknown option '\($0)'") } }
        return unknown.map { "In place of curl's option: \($0.way)." }
    }
}
