import Foundation
import TrialSupport

/// Tests the faults of URLSession on Linux with plain URLSession, with the library's dispatcher for it, and with the
/// library's dispatcher for libcurl.
///
///     URLSessionFaults              every row, as a table
///     URLSessionFaults ROW ...      some rows
///     URLSessionFaults ROW SUBJECT PORT ...     the client side of one row, in this process
///
/// The exit status is 0 if the library's dispatchers behave as expected: the one for libcurl is correct in every row;
/// the one for URLSession is correct, refuses, or is excluded by name.
@main
struct URLSessionFaults {
    static let rows = crashes + redirects + times + heads + requests + errors + loads

    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.count > 2, let row = rows.first(where: { $0.id == arguments[0] }),
            let subject = Subject(rawValue: arguments[1])
        {
            // Tells the parent process that the probe begins.
            FileHandle.standardOutput.write(Data("\n".utf8))
            let words: String
            do {
                words = try await row.probe(
                    Probe(subject: subject, ports: arguments.dropFirst(2).compactMap { Int($0) }))
            } catch {
                words = "error \(error)"
            }
            FileHandle.standardOutput.write(Data(words.utf8))
            // Not `exit`: faults at the end of the process are not part of the row.
            _exit(0)
        }
        try run(arguments.isEmpty ? rows : rows.filter { arguments.contains($0.id) })
    }

    private static func run(_ rows: [FaultRow]) throws {
        var table = TextTable("what", Subject.raw.title, Subject.urlsession.title, Subject.curl.title)
        var faults: [String] = []
        var rawFaults = 0
        for row in rows {
            var cells: [String] = []
            for subject in Subject.allCases {
                let report = try ChildRun(row: row, subject: subject).run()
                let isRight = report.end == .answered && row.isRight(report)
                let isExcluded = row.excluded.contains(subject)
                let mark = isRight ? "right" : report.isRefused ? "refused" : isExcluded ? "excluded" : "WRONG"
                cells.append("\(mark): \(report.text)")
                if subject == .raw, !isRight { rawFaults += 1 }
                guard subject != .raw else { continue }
                if mark == "WRONG" || subject == .curl && mark != "right" {
                    faults.append("\(row.id) over \(subject.rawValue): \(report.text)")
                }
                if isRight, isExcluded { faults.append("\(row.id) over \(subject.rawValue) is excluded and right") }
            }
            table.add(row.what, cells[0], cells[1], cells[2])
            FileHandle.standardError.write(Data("\(row.id): \(cells.joined(separator: " | "))\n".utf8))
        }
        print(table.text)
        print("\n\(rows.count) rows; URLSession as it is goes wrong in \(rawFaults).")
        for fault in faults { print("FAULT: \(fault)") }
        exit(faults.isEmpty ? 0 : 1)
    }
}
