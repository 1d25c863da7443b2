import ArgumentParser
import Foundation
import NetworkLayer
import NetworkRollout

/// An arm of a comparison, as `--arm` describes it: `curl`, `curl:http=2,loops=2`, `curl:libcurl=FOLDER,name=new`.
struct ArmSpecification: Sendable, Hashable {
    /// The text of the option.
    let text: String
    /// The arm's name in reports: the one of its option `name`, or else the text.
    private(set) var name: String
    let kind: TransportKind
    /// The version of HTTP that the arm's requests ask for, in place of the request's own.
    var httpVersion: TransportOptions.HTTPVersion?
    /// The number of the curl dispatcher's loops.
    var loops: Int?
    /// The folder of another libcurl, for the loader.
    var libcurl: String?
    /// The transport with its shadow, if there is one.
    private var isShadowed = false

    /// The value of ``TransportKind/variable`` that stands for the arm's transport.
    private(set) var variable: String

    static let standard = TransportKind.allCases.map { ArmSpecification($0) }

    private init(_ kind: TransportKind) {
        self.kind = kind
        (text, name) = (kind.rawValue, kind.rawValue)
        variable = kind.rawValue
    }

    init(_ text: String) throws {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard let kind = parts.first.flatMap(TransportKind.init(rawValue:)) else {
            let kinds = TransportKind.allCases.map(\.rawValue).joined(separator: " or ")
            throw ValidationError("an arm begins with \(kinds), and options may follow: 'curl:http=2,loops=2'")
        }
        self.kind = kind
        (self.text, name) = (text, text)
        variable = kind.rawValue
        for option in parts.count > 1 ? parts[1].split(separator: ",").map(String.init) : [] {
            let words = option.split(separator: "=", maxSplits: 1).map(String.init)
            guard words.count == 2, !words[1].isEmpty else { throw ValidationError("'\(option)' is not 'name=value'") }
            try set(words[0], words[1])
        }
        if kind == .urlsession, httpVersion != nil || loops != nil {
            throw ValidationError("urlsession has neither 'http' nor 'loops'")
        }
        if isShadowed, loops != nil { throw ValidationError("'shadow' and 'loops' exclude one another") }
    }

    /// The transport and its options, without a name of its own.
    var origin: String {
        let parts = text.split(separator: ":", maxSplits: 1)
        let options = parts.dropFirst().first?.split(separator: ",").filter { !$0.hasPrefix("name=") } ?? []
        return options.isEmpty ? kind.rawValue : "\(kind.rawValue):\(options.joined(separator: ","))"
    }

    /// The name of the arm's second copy, which gives the noise floor.
    var nameOfCopy: String { "\(name) again" }

    /// The command that sends one request as the arm does, without the arm's loops and its shadow.
    var fetch: String {
        let folder = libcurl.map { "LD_LIBRARY_PATH=\(ShellText.word($0)) " } ?? ""
        let version = httpVersion.map { " --http\($0.rawValue)" } ?? ""
        return "\(folder)netlayer fetch --transport \(kind.rawValue)\(version)"
    }

    private mutating func set(_ option: String, _ value: String) throws {
        switch option {
        case "http":
            guard value != "automatic", let version = TransportOptions.HTTPVersion(rawValue: value) else {
                throw ValidationError("'http' is one of 1.0, 1.1, 2, 2-prior-knowledge, 3")
            }
            httpVersion = version
        case "loops":
            guard let count = Int(value), (1...64).contains(count) else { throw ValidationError("'loops' is 1 to 64") }
            loops = count
        case "libcurl":
            guard FileManager.default.fileExists(atPath: "\(value)/libcurl.so.4") else {
                throw ValidationError("the folder '\(value)' has no libcurl.so.4")
            }
            libcurl = value
        case "name":
            guard Self.isName(value) else {
                throw ValidationError(
                    "'name' has up to 40 letters, digits, spaces and '-_.+', and begins with a letter or a digit")
            }
            name = value
        case "shadow":
            variable = "\(kind.rawValue); shadow=\(value)"
            isShadowed = true
            do { _ = try Rollout.transport(variable, from: "an arm") } catch let error as NetworkError {
                throw ValidationError(error.message)
            }
        default:
            throw ValidationError("an arm has the options http, libcurl, loops, name and shadow, and not '\(option)'")
        }
    }

    /// Whether reports of all kinds can show a name as it is.
    private static func isName(_ text: String) -> Bool {
        guard let first = text.first, first.isLetter || first.isNumber else { return false }
        return text.unicodeScalars.count <= 40 && text.allSatisfy { $0.isLetter || $0.isNumber || " -_.+".contains($0) }
    }

    /// Returns the transport that the arm sends over. It is the process's only one.
    func transport() -> any HTTPTransport {
        if isShadowed, let transport = try? Rollout.transport(variable, from: "an arm") { return transport }
        guard kind == .curl, let loops else { return kind.transport }
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.loops = loops
        return CurlNetworkDispatcher(configuration: configuration)
    }
}
