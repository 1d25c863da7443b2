import ArgumentParser
import NetworkLayer

/// A curl command as a source of requests: the options of `fetch`, which have curl's names, and those of curl that say
/// how curl prints, which have no meaning here.
struct CurlLine: ParsableArguments, RequestOptions {
    @Argument var url: String

    @Flag(name: [.customShort("i"), .customLong("include")]) var include = false
    @Flag(name: .shortAndLong) var verbose = false
    @Flag(name: [.customShort("q"), .customLong("disable")]) var disable = false
    @Flag(name: [.customShort("g"), .customLong("globoff")]) var globoff = false

    @OptionGroup var pipeline: PipelineOptions

    @OptionGroup var flags: RequestFlags

    @OptionGroup var exchange: ExchangeOptions

    @OptionGroup(title: "Connection (over curl)") var connection: ConnectionFlags

    @OptionGroup(title: "TLS (over curl)") var tls: TLSFlags

    @OptionGroup(title: "Proxy (over curl)") var proxy: ProxyFlags

    /// Reads a command.
    /// - Throws: ``ToolFailure`` for a command that is not curl's, or that has an option which `fetch` lacks.
    static func read(_ command: String) throws -> CurlLine {
        let words = try ShellWords.split(command)
        guard words.first == "curl" else {
            throw ToolFailure(.usage, "a command of --from-curl does not begin with 'curl'")
        }
        do {
            let separated = Array(JoinedWords.separated(["fetch"] + words.dropFirst()).dropFirst())
            return try parse(try withOneBody(separated))
        } catch let failure as ToolFailure {
            throw failure
        } catch {
            let reason = JoinedWords.hidingValues(of: words, in: message(for: error))
            throw ToolFailure(.usage, "a command of --from-curl can't be used: \(reason)")
        }
    }

    /// Returns the words with one option for the body: curl joins several by `&`.
    private static func withOneBody(_ words: [String]) throws -> [String] {
        let options: Set<String> = ["-d", "--data", "--data-raw", "--data-binary", "--data-ascii"]
        var (rest, bodies) = ([String](), [(option: String, value: String)]())
        var index = 0
        while index < words.count {
            let parts = words[index].split(separator: "=", maxSplits: 1).map(String.init)
            if options.contains(words[index]), index + 1 < words.count {
                bodies.append((words[index], words[index + 1]))
                index += 1
            } else if parts.count == 2, parts[0].hasPrefix("--"), options.contains(parts[0]) {
                bodies.append((parts[0], parts[1]))
            } else {
                rest.append(words[index])
            }
            index += 1
        }
        guard let first = bodies.first else { return rest }
        let isFile = first.value.hasPrefix("@") && first.option != "--data-raw"
        if isFile, bodies.count == 1, first.option == "--data-binary" { return rest + [first.option, first.value] }
        if bodies.contains(where: { $0.value.hasPrefix("@") && $0.option != "--data-raw" }) {
            throw ToolFailure(.usage, "of files a command of --from-curl can have one, by --data-binary @FILE")
        }
        return rest + ["--data-raw", bodies.map(\.value).joined(separator: "&")]
    }

    /// The fields that are sent with each request, whatever a command says.
    private static let always: Set<String> = ["accept", "host", "user-agent"]

    /// Returns the request that the command describes.
    /// - Parameter files: Reads the file of a body.
    /// - Throws: ``ToolFailure`` for a URL that stands for several; ``NetworkError``.
    func request(files: InputFiles) async throws -> TransportRequest {
        if !globoff, url.contains(where: { "{}".contains($0) }) {
            throw ToolFailure(.usage, "a URL of --from-curl stands for several ones; -g takes it as it is")
        }
        var own = self
        // A name without a value tells curl to leave out what it would send by itself, one before a ';' to send none.
        let removed = Set(
            flags.headers.filter { $0.contains(byte: UInt8(ascii: ":")) && $0.splitAtColon.value.isEmpty }
                .map { $0.splitAtColon.name.lowercasedASCII })
        if let name = removed.intersection(Self.always).min() {
            throw ToolFailure(.usage, "a command of --from-curl leaves out '\(name)', which is always sent here")
        }
        own.flags.headers.removeAll { $0.contains(byte: UInt8(ascii: ":")) && $0.splitAtColon.value.isEmpty }
        own.flags.headers = own.flags.headers.map { $0.contains(":") || !$0.hasSuffix(";") ? $0 : "\($0.dropLast()):" }
        let names = Set(own.flags.headers.map { $0.splitAtColon.name.lowercasedASCII }).union(removed)
        // A field of the command takes the place of curl's own.
        let cookies = names.contains("cookie") ? nil : pipeline.cookieField
        var request = try await own.request(to: url, cookies: cookies, files: files)
        if removed.contains("content-type") { request.headerFields[.contentType] = nil }
        return request
    }
}
