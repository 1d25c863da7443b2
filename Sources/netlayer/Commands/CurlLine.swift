import ArgumentParser
import NetworkLayer

/// A curl command as a source of requests: the options of `fetch`, which have curl's names, and those of curl that say
/// how curl prints, which have no meaning here.
struct CurlLine: ParsableArguments {
    @Argument var url: String

    @Option(name: .customShort("b"), parsing: .unconditionalSingleValue) var cookies: [String] = []

    /// The library asks for compression by itself.
    @Flag var compressed = false
    @Flag(name: .shortAndLong) var silent = false
    @Flag(name: [.customShort("S"), .customLong("show-error")]) var showError = false
    @Flag(name: [.customShort("i"), .customLong("include")]) var include = false
    @Flag(name: .shortAndLong) var verbose = false
    @Flag(name: [.customShort("q"), .customLong("disable")]) var disable = false
    @Flag(name: [.customShort("g"), .customLong("globoff")]) var globoff = false

    @OptionGroup var pipeline: PipelineOptions

    @OptionGroup var flags: RequestFlags

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
            throw ToolFailure(.usage, "a command of --from-curl can't be used: \(message(for: error))")
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

    /// Returns the request that the command describes.
    /// - Throws: ``ToolFailure`` for a URL that stands for several; ``NetworkError``.
    func request() async throws -> TransportRequest {
        if !globoff, url.contains(where: { "{}".contains($0) }) {
            throw ToolFailure(.usage, "a URL of --from-curl stands for several ones; -g takes it as it is")
        }
        var flags = flags
        // A name without a value tells curl to leave out what it would send by itself, one before a ';' to send none.
        flags.headers.removeAll { $0.splitAtColon.value.isEmpty && $0.contains(":") }
        flags.headers = flags.headers.map { $0.contains(":") || !$0.hasSuffix(";") ? $0 : "\($0.dropLast()):" }
        let hasType = flags.headers.contains { $0.splitAtColon.name.lowercasedASCII == "content-type" }
        if flags.data != nil || flags.dataRaw != nil, !hasType {
            flags.headers.append("Content-Type: application/x-www-form-urlencoded")
        }
        let field = ([pipeline.cookieField].compactMap(\.self) + cookies).joined(separator: "; ")
        return try await flags.request(to: url, cookies: field.isEmpty ? nil : field)
    }
}
