import FoundationEssentials

extension RequestData.Conventions.Dates {
    /// The years 1 to 9999, which ISO 8601 writes with four digits.
    static let range = Date(timeIntervalSince1970: -62_135_596_800)..<Date(timeIntervalSince1970: 253_402_300_800)

    /// Returns a date within ``range`` as text or as a number.
    func value(of date: Date) -> ParameterValue {
        let seconds = date.timeIntervalSince1970
        switch self {
        case .iso8601:
            // Rounded, but not up into the year 10000.
            let milliseconds = min((seconds * 1000).rounded(), Self.range.upperBound.timeIntervalSince1970 * 1000 - 1)
            return .string(CivilDate.text(milliseconds: Int(milliseconds)))
        case .seconds:
            // A `Date` counts from 2001, and the conversion to 1970 disturbs the last digits.
            let rounded = (seconds * 1_000_000).rounded() / 1_000_000
            return Int(exactly: rounded).map { .int($0) } ?? .double(rounded)
        case .milliseconds: return .int(Int((seconds * 1000).rounded()))
        }
    }
}

extension ParameterValue {
    /// Returns the same value with each date written by a convention.
    func writingDates(as dates: RequestData.Conventions.Dates) -> ParameterValue {
        switch self {
        case .date(let date): dates.value(of: date)
        case .array(let values): .array(values.map { $0.writingDates(as: dates) })
        case .object(let values): .object(values.mapValues { $0.writingDates(as: dates) })
        default: self
        }
    }
}
