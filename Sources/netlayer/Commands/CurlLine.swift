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
            return try parse(Array(JoinedWords.separated(["fetch"] + words.dropFirst()).dropFirst()))
        } catch {
            throw ToolFailure(.usage, "a command of --from-curl can't be used: \(message(for: error))")
        }
    }

    /// Returns the request that the command describes.
    func request() async throws -> TransportRequest {
        var flags = flags
        // A name without a value tells curl to leave out what it would send by itself.
        flags.headers.removeAll { $0.splitAtColon.value.isEmpty }
        let field = ([pipeline.cookieField].compactMap(\.self) + cookies).joined(separator: "; ")
        return try await flags.request(to: url, cookies: field.isEmpty ? nil : field)
    }
}
