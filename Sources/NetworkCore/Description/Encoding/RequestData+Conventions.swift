import FoundationEssentials

extension RequestData {
    /// The way parameters are written where HTTP leaves it open. A server expects one of each; the defaults are the
    /// most common.
    ///
    /// ```swift
    /// var data = RequestData(path: "http://127.0.0.1:8080/search", parameters: ["tags": ["a", "b"], "exact": true])
    /// data.conventions.arrays = .brackets
    /// data.conventions.booleans = .numbers
    /// ```
    ///
    /// In a JSON body only ``dates`` matters.
    public struct Conventions: Sendable, Hashable {
        /// The way a list is written.
        public var arrays = Arrays.repeated
        /// The way an object within another is written.
        public var objects = Objects.brackets
        /// The way a boolean is written.
        public var booleans = Booleans.words
        /// The way a date is written.
        public var dates = Dates.iso8601

        /// `tags=a&tags=b`, `nested[key]=1`, `true`, ISO 8601.
        public static let standard = Conventions()

        /// Creates the standard conventions.
        public init() {}

        /// The way a list is written. An empty list is left out, and so is `nil` in a list.
        @nonexhaustive
        public enum Arrays: Sendable, Hashable, CaseIterable {
            /// `tags=a&tags=b`.
            case repeated
            /// `tags[]=a&tags[]=b`.
            case brackets
            /// `tags[0]=a&tags[1]=b`. An element keeps its number when one before it is `nil`.
            case indexed
            /// `tags=a,b`. Commas within an element are percent-encoded. A list or object in such a list is refused.
            case commas
        }

        /// The way an object within another is written.
        @nonexhaustive
        public enum Objects: Sendable, Hashable, CaseIterable {
            /// `user[name]=Ada`.
            case brackets
            /// `user.name=Ada`.
            case dots
        }

        /// The way a boolean is written.
        @nonexhaustive
        public enum Booleans: Sendable, Hashable, CaseIterable {
            /// `true` and `false`.
            case words
            /// `1` and `0`.
            case numbers
        }

        /// The way a date is written.
        @nonexhaustive
        public enum Dates: Sendable, Hashable, CaseIterable {
            /// `2026-01-31T12:00:00Z`, in UTC, with milliseconds if the date is not a whole second.
            case iso8601
            /// Seconds since 1970, to the microsecond.
            case seconds
            /// Milliseconds since 1970, rounded.
            case milliseconds

            /// The years 1 to 9999, which ISO 8601 writes with four digits.
            static let range =
                Date(timeIntervalSince1970: -62_135_596_800)..<Date(timeIntervalSince1970: 253_402_300_800)

            func value(of date: Date) -> ParameterValue {
                let seconds = date.timeIntervalSince1970
                switch self {
                case .iso8601:
                    // Rounded, but not up into the year 10000.
                    let milliseconds = min(
                        (seconds * 1000).rounded(), Self.range.upperBound.timeIntervalSince1970 * 1000 - 1)
                    return .string(CivilDate.text(milliseconds: Int(milliseconds)))
                case .seconds:
                    // A `Date` counts from 2001, and the conversion to 1970 disturbs the last digits.
                    let rounded = (seconds * 1_000_000).rounded() / 1_000_000
                    return Int(exactly: rounded).map { .int($0) } ?? .double(rounded)
                case .milliseconds: return .int(Int((seconds * 1000).rounded()))
                }
            }
        }
    }
}

extension ParameterValue {
    func writingDates(as dates: RequestData.Conventions.Dates) -> ParameterValue {
        switch self {
        case .date(let date): dates.value(of: date)
        case .array(let values): .array(values.map { $0.writingDates(as: dates) })
        case .object(let values): .object(values.mapValues { $0.writingDates(as: dates) })
        default: self
        }
    }
}
