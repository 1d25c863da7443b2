import ArgumentParser
import NetworkLayer

/// A curl command as a source of requests: the options of `fetch`, which have curl's names. Those that say what happens
/// to the response have no meaning here.
struct CurlLine {
    private let command: FetchCommand

    var flags: RequestFlags { command.flags }

    init(_ text: String) throws {
        let words = try ShellWords.split(text)
        guard words.first == "curl" else {
            throw ToolFailure(.usage, "a command of --from-curl does not begin with 'curl'")
        }
        do {
            command = try FetchCommand.parse(
                Array(CommandWords.separated(["fetch"] + words.dropFirst()).dropFirst()))
        } catch {
            let reason = CommandWords.hidingValues(of: words, in: FetchCommand.message(for: error))
            throw ToolFailure(.usage, "a command of --from-curl can't be used: \(reason)")
        }
    }

    func request(files: InputFiles) async throws -> TransportRequest {
        if !flags.globoff, command.url.contains(where: { "{}".contains($0) }) {
            throw ToolFailure(.usage, "a URL of --from-curl stands for several ones; -g takes it as it is")
        }
        var own = command
        own.verbose = false
        // A name without a value tells curl to leave out what it would send by itself.
        let isRemoved = { (field: String) in field.contains(byte: UInt8(ascii: ":")) && field.splitAtColon.value.isEmpty
        }
        let removed = Set(flags.headers.filter(isRemoved).map { $0.splitAtColon.name.lowercasedASCII })
        if let name = removed.intersection(["accept", "host", "user-agent"]).min() {
            throw ToolFailure(.usage, "a command of --from-curl leaves out '\(name)', which is always sent here")
        }
        own.flags.headers.removeAll(where: isRemoved)
        // A field of the command takes the place of curl's own.
        if removed.contains("cookie") || own.flags.headers.contains(where: { $0.lowercasedASCII.hasPrefix("cookie:") })
        {
            own.flags.cookie = []
        }
        var request = try await own.request()
        if removed.contains("content-type") { request.headerFields[.contentType] = nil }
        return request
    }
}
