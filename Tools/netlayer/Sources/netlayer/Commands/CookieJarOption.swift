import ArgumentParser
import NetworkLayer

/// The option of `fetch` that keeps cookies in a file.
struct CookieJarOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read cookies from a file in the Netscape format, if it exists, and always write them back.",
            valueName: "file"
        )
    )
    var cookieJar: String?

    /// Returns the cookies of the file, empty if there is no file; `nil` without the option.
    func jar() throws -> CookieJar? { try cookieJar.map { try CookieJar(file: $0) } }

    /// Runs `work` and saves the cookies even if it fails, because a server can set cookies before the failure.
    func keepingCookies<Value>(of client: NetworkClient, _ work: () async throws -> Value) async throws -> Value {
        let value: Value
        do {
            value = try await work()
        } catch {
            do { try save(client.cookieJar) } catch let loss as NetworkError {
                // The first error is the one to report.
                await OutputWriter.say("netlayer: \(loss)")
            }
            throw error
        }
        try save(client.cookieJar)
        return value
    }

    private func save(_ cookies: CookieJar?) throws {
        if let cookieJar, let cookies { try cookies.save(to: cookieJar) }
    }
}
