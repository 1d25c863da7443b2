import ArgumentParser
import Foundation
import Testing

@testable import netlayer

@Suite("The table of options with a value") struct ValueFlagTests {
    /// What the argument parser knows, as it tells shells and manual pages.
    private struct Help: Decodable {
        struct Command: Decodable {
            var commandName: String
            var arguments: [Argument]?
            var subcommands: [Command]?
        }
        struct Argument: Decodable {
            struct Name: Decodable {
                var kind: String
                var name: String
            }
            var kind: String
            var parsingStrategy: String
            var names: [Name]?

            var words: [String] { (names ?? []).map { ($0.kind == "short" ? "-" : "--") + $0.name } }
        }
        var command: Command
    }

    private static func options() throws -> [Help.Argument] {
        let help = try JSONDecoder().decode(Help.self, from: Data(Netlayer._dumpHelp().utf8))
        let commands = (help.command.subcommands ?? []).filter {
            ["fetch", "compare", "record", "replay"].contains($0.commandName)
        }
        return commands.flatMap { $0.arguments ?? [] }.filter { $0.kind == "option" }
    }

    /// The table says of a new option whether its value may be a secret.
    @Test func `each option of a request has its place in the table`() throws {
        let names = Set(ValueFlag.all.flatMap(\.names))
        let options = try Self.options()
        #expect(options.count > 100)
        let known = Set(options.flatMap(\.words))
        #expect(known.subtracting(names) == [])
        #expect(names.subtracting(known) == [])
    }

    @Test func `the table and the parser agree on values that begin with a dash`() throws {
        for option in try Self.options() {
            let takesDashes = option.parsingStrategy == "unconditional"
            for word in option.words { #expect(ValueFlag.dashNames.contains(word) == takesDashes, "\(word)") }
        }
    }
}
