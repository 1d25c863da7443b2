import Foundation
import Testing

@testable import NetworkCore

struct DateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func `the three forms of HTTP are one moment`(text: String) {
        #expect(FieldDate.parse(text)?.timeIntervalSince1970 == 784_111_777)
    }

    @Test func `a moment is that of Foundation's calendar`() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for (year, month, day) in [
            (1601, 1, 1), (1900, 2, 28), (1970, 1, 1), (2000, 2, 29), (2024, 12, 31), (9999, 12, 31),
        ] {
            let parts = DateComponents(year: year, month: month, day: day, hour: 23, minute: 59, second: 58)
            let civil = CivilDate(year: year, month: month, day: day, hour: 23, minute: 59, second: 58)
            #expect(civil.moment == calendar.date(from: parts))
        }
        #expect(CivilDate(year: 1900, month: 2, day: 29).moment == nil)
        #expect(CivilDate(year: 2023, month: 13, day: 1).moment == nil)
    }

    @Test(arguments: [
        ("Wed, 09 Jun 2021 10:18:14 GMT", 1_623_233_894), ("Wednesday, 09-Jun-21 10:18:14 GMT", 1_623_233_894),
        ("Wed Jun  9 10:18:14 2021", 1_623_233_894), ("9 june 2021 10:18:14", 1_623_233_894),
        ("10:18:14 2021 Jun 9", 1_623_233_894), ("09-jUn-2021 10:18:14.999 PST", 1_623_233_894),
        ("1 Jan 70 0:0:0", 0), ("1 Jan 69 0:0:0", 3_124_224_000), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ])
    func `a cookie date is read leniently`(text: String, seconds: Int) {
        #expect(FieldDate.parse(text).map { Int($0.timeIntervalSince1970) } == seconds)
    }

    @Test(arguments: [
        "", "Wed", "1994-11-06T08:49:37Z", "Sun, 06 Foo 1994 08:49:37 GMT", "09 Jun 2021", "10:18:14",
        "32 Jun 2021 10:18:14", "31 Jun 2021 10:18:14", "9 Jun 1600 10:18:14",
        "9 Jun 2021 24:18:14", "9 Jun 2021 10:60:14", "9 Jun 2021 10:18:60", "9 Jux 2021 10:18:14", "9 Jun 2021 10:18",
        "9 Jun 20210 10:18:14",
    ])
    func `a cookie date without sense is none`(text: String) { #expect(FieldDate.parse(text) == nil) }
}
