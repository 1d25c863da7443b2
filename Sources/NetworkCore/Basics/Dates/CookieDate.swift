import FoundationEssentials

/// A parser for the dates of cookies, as lenient as RFC 6265 §5.1.1 requires: tokens in any order, between any of many
/// delimiters.
enum CookieDate {
    /// Returns the point in time that a text stands for, or `nil` if its day, month, year or time is missing or out of
    /// range.
    static func parse(_ text: String) -> Date? {
        var time: (hour: Int, minute: Int, second: Int)?
        var (day, month, year): (Int?, Int?, Int?)
        for token in text.utf8.split(whereSeparator: \.isDateDelimiter) {
            if time == nil, let found = clock(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = CivilDate.month(String(decoding: token.prefix(3), as: UTF8.self)) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year, time.second <= 59 else { return nil }
        switch year {
        case 70...99: year += 1900
        case 0...69: year += 2000
        default: break
        }
        return CivilDate(
            year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second
        ).moment
    }

    /// Reads `hour:minute:second`, each of one or two digits. Anything may follow, except another digit.
    private static func clock(_ token: Substring.UTF8View) -> (Int, Int, Int)? {
        let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = whole(parts[0]), let minute = whole(parts[1]),
            let second = number(parts[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    /// Reads one or two digits and nothing else.
    private static func whole(_ token: Substring.UTF8View) -> Int? {
        token.count <= 2 ? number(token, digits: 1...2).flatMap { token.allSatisfy(\.isDigit) ? $0 : nil } : nil
    }

    /// Reads the number at the start of a token: as many digits as given, then the end or a character that is not a
    /// digit.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let leading = token.prefix(while: \.isDigit)
        guard digits.contains(leading.count) else { return nil }
        return leading.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}

extension UInt8 {
    fileprivate var isDateDelimiter: Bool {
        switch self {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}
