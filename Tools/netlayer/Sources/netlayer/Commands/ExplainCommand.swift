import ArgumentParser
import JSONText
import NetworkConfiguration
import NetworkLayer

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show what applies to a request, and why. Nothing is sent.",
        discussion: """
            A file of settings has the keys of the product NetworkConfiguration. Environment variables that a program \
            of yours reads for them do not count here. Keys that the file has come first.

            \(ProcessStatus.table)
            """
    )

    @Argument(help: "The URL. Default: the file's baseURL, or https://localhost/.") var url: String?
    @OptionGroup var transport: TransportOption
    @Option(name: .customLong("settings"), help: "A JSON file of settings, at most 1 MiB.") var file: String?
    @Option(help: "The object in the file that has the keys, such as 'orders' or 'services.orders'.")
    var namespace: String?
    @Flag(name: .customLong("all"), help: "Show the keys with their defaults too.") var showsAll = false
    @Flag(name: .customLong("as-json"), help: "Print one JSON object.") var asJSON = false

    func run() async throws {
        var values = try await values()
        let option = transport.transport
        if let option { values["transport"] = option.rawValue }
        let settings = try NetworkSettings(values: values, from: file ?? "values")
        // A shadow or canary that the variable names may be wrong.
        if settings.transport == .standard { _ = try DefaultTransport.shared.selected }
        let facts = try settings.explanation(of: url).map { fact in
            (fact.subject, fact.value, option != nil && fact.subject == "transport" ? "--transport" : fact.reason)
        }
        let given = settings.entries.filter { !$0.isDefault }
        let entries = (given + (showsAll ? settings.entries.filter(\.isDefault) : [])).map { entry in
            (entry.key, entry.value, option != nil && entry.key == "transport" ? "--transport" : entry.source)
        }
        guard asJSON else {
            let lines =
                facts.map { "\($0): \($1)" + ($2.isEmpty ? "" : " (\($2))") } + entries.map { "\($0) = \($1) (\($2))" }
            return try await OutputWriter.standardOutput.writeLine(lines.map(TerminalText.line).joined(separator: "\n"))
        }
        func members(_ value: String, _ why: String) -> JSONValue {
            .object([.init("value", .string(value)), .init("why", .string(why))])
        }
        try await OutputWriter.standardOutput.writeLine(
            JSONValue.object([
                .init("facts", .object(facts.map { .init($0, members($1, $2)) })),
                .init("settings", .object(entries.map { .init($0, members($1, $2)) })),
            ]))
    }

    /// Returns the texts of the file by key; those of an array are separated by commas.
    private func values() async throws -> [String: String] {
        guard let file else {
            if namespace != nil { throw ToolFailure(.usage, "--namespace needs --settings") }
            return [:]
        }
        let bytes = try await ByteSource(path: file).readAll(limit: 1 << 20)
        var value: JSONValue
        do { value = try JSONParser.parse(Array(bytes)) } catch let problem as JSONProblem {
            throw ToolFailure(.file, "\(file) is no JSON: \(problem.message) at byte \(problem.offset)")
        }
        for name in (namespace ?? "").split(separator: ".") {
            guard case .object(let members) = value, let member = members.first(where: { $0.key == name }) else {
                throw ToolFailure(.file, "\(file) has no object '\(TerminalText.line(String(name)))'")
            }
            value = member.value
        }
        guard case .object = value else { throw ToolFailure(.file, "\(file) has no object with keys") }
        var values: [String: String] = [:]
        try Self.flatten(value, "", into: &values)
        return values
    }

    static func flatten(_ value: JSONValue, _ key: String, into values: inout [String: String]) throws {
        func add(_ text: String) throws {
            guard values.updateValue(text, forKey: key) == nil else {
                throw ToolFailure(.file, "\(TerminalText.line(key)) is given twice")
            }
        }
        switch value {
        case .object(let members):
            for member in members {
                try flatten(member.value, key.isEmpty ? member.key : "\(key).\(member.key)", into: &values)
            }
        case .array(let items):
            var texts: [String: String] = [:]
            for (index, item) in items.enumerated() { try flatten(item, "\(index)", into: &texts) }
            guard texts.count == items.count else {
                throw ToolFailure(.file, "\(TerminalText.line(key)) is an array of something else than texts")
            }
            try add(items.indices.compactMap { texts["\($0)"] }.joined(separator: ","))
        case .string(let text): try add(text)
        case .number(let digits): try add(digits)
        case .bool(let isTrue): try add("\(isTrue)")
        case .null: break
        }
    }
}
