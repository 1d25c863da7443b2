import ArgumentParser
import Foundation
import NetworkLayer
import NetworkRollout

/// An arm of a comparison, as `--arm` describes it: `curl`, `curl:http=2,loops=2`, `curl:libcurl=FOLDER,name=new`.
struct ArmSpecification: Sendable, Hashable {
    /// The text of the option.
    let text: String
    let kind: TransportKind
    /// The arm's name in reports: the one of its option `name`, or else the text.
    private(set) var name: String
    /// The transport and its options, without a name of its own.
    private(set) var origin: String
    /// The version of HTTP that the arm's requests ask for, in place of the request's own.
    private(set) var httpVersion: TransportOptions.HTTPVersion?
    /// The number of the curl dispatcher's loops.
    private(set) var loops: Int?
    /// The folder of another libcurl, for the loader.
    private(set) var libcurl: String?
    /// The value of ``TransportKind/variable`` that stands for the arm's transport, with its shadow.
    private(set) var variable: String

    static let standard = TransportKind.allCases.compactMap { try? ArmSpecification($0.rawValue) }

    init(_ text: String) throws {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard let kind = parts.first.flatMap(TransportKind.init(rawValue:)) else {
            let kinds = TransportKind.allCases.map(\.rawValue).joined(separator: " or ")
            throw ValidationError("an arm begins with \(kinds), and options may follow: 'curl:http=2,loops=2'")
        }
        (self.text, self.kind, name, origin, variable) = (text, kind, text, kind.rawValue, kind.rawValue)
        let options = parts.count > 1 ? parts[1].split(separator: ",").map(String.init) : []
        for option in options {
            let words = option.split(separator: "=", maxSplits: 1).map(String.init)
            guard words.count == 2, !words[1].isEmpty else { throw ValidationError("'\(option)' is not 'name=value'") }
            try set(words[0], words[1])
        }
        let own = options.filter { !$0.hasPrefix("name=") }
        if !own.isEmpty { origin += ":\(own.joined(separator: ","))" }
        if kind == .urlsession, httpVersion != nil || loops != nil {
            throw ValidationError("urlsession has neither 'http' nor 'loops'")
        }
        if isShadowed, loops != nil { throw ValidationError("'shadow' and 'loops' exclude one another") }
    }

    private var isShadowed: Bool { variable != kind.rawValue }

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
            httpVersion = TransportOptions.HTTPVersion(rawValue: value)
            if [nil, .automatic].contains(httpVersion) {
                throw ValidationError("'http' is one of 1.0, 1.1, 2, 2-prior-knowledge, 3, 3-only")
            }
        case "loops":
            loops = Int(value)
            if loops.map((1...64).contains) != true { throw ValidationError("'loops' is 1 to 64") }
        case "libcurl":
            libcurl = value
            if !FileManager.default.fileExists(atPath: "\(value)/libcurl.so.4") {
                throw ValidationError("the folder '\(value)' has no libcurl.so.4")
            }
        case "name":
            name = value
            // Reports of all kinds show it as it is.
            let isFirst = value.first.map { $0.isLetter || $0.isNumber } ?? false
            let isName = isFirst && value.allSatisfy { $0.isLetter || $0.isNumber || " -_.+".contains($0) }
            if !isName || value.unicodeScalars.count > 40 {
                throw ValidationError(
                    "'name' has up to 40 letters, digits, spaces and '-_.+', and begins with a letter or a digit")
            }
        case "shadow":
            variable = "\(kind.rawValue); shadow=\(value)"
            do { _ = try Rollout.transport(variable, from: "an arm") } catch let error as NetworkError {
                throw ValidationError(error.message)
            }
        default:
            throw ValidationError("an arm has the options http, libcurl, loops, name and shadow, and not '\(option)'")
        }
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
