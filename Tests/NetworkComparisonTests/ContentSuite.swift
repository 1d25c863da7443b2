import Foundation
import NetworkCore

@testable import NetworkComparison

/// A suite that compares responses.
protocol ContentSuite {}

extension ContentSuite {
    static func response(
        _ body: String = "", status: Int = 200, type: String? = "application/json",
        fields: [(String, String)] = []
    ) -> RecordedResponse {
        var response = RecordedResponse()
        response.status = status
        response.fields = (type.map { [("Content-Type", $0)] } ?? []).map { .init($0, $1) }
        response.fields += fields.map { .init($0.0, $0.1) }
        response.setBody(Data(body.utf8))
        return response
    }

    static func failure(_ code: String) -> RecordedResponse {
        var response = RecordedResponse()
        response.errorCode = code
        response.errorText = "\(code): in words"
        return response
    }

    static func tally(_ responses: [RecordedResponse]) -> ContentTally {
        var tally = ContentTally()
        for (number, response) in responses.enumerated() {
            tally.learn(response, as: number)
            tally.count(number)
        }
        return tally
    }

    static func compare(
        _ first: [RecordedResponse], _ copy: [RecordedResponse], _ other: [RecordedResponse]
    ) -> ContentComparison {
        ContentComparison(tally(first), copy: tally(copy), tally(other), kinds: ("curl", "urlsession"), sentNames: [])
    }

    /// Compares two arms that always respond alike.
    static func compare(
        _ first: RecordedResponse, with other: RecordedResponse, kinds: (String, String) = ("curl", "urlsession"),
        names: [HTTPField.Name] = []
    ) -> ContentComparison {
        compare(times(20) { _ in first }, with: times(20) { _ in other }, kinds: kinds, names: names)
    }

    /// Compares two arms, of which the first one's copy has the same responses.
    static func compare(
        _ first: [RecordedResponse], with other: [RecordedResponse],
        kinds: (String, String) = ("curl", "urlsession"), names: [HTTPField.Name] = []
    ) -> ContentComparison {
        ContentComparison(tally(first), copy: tally(first), tally(other), kinds: kinds, sentNames: names)
    }

    static func times(_ count: Int, _ make: (Int) -> RecordedResponse) -> [RecordedResponse] {
        (0..<count).map(make)
    }
}
