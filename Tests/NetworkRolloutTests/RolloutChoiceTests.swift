import NetworkLayer
import Testing
import TestSupport

@testable import NetworkRollout

@Suite(.patience(minutes: 1))
struct RolloutChoiceTests {
    @Test(
        arguments: [
            ("curl; shadow=urlsession@1%", .shadow(primary: .curl, shadow: .urlsession, share: 0.01)),
            ("urlsession;shadow=curl@100%", .shadow(primary: .urlsession, shadow: .curl, share: 1)),
            ("curl ; shadow = urlsession @ 0.25%", .shadow(primary: .curl, shadow: .urlsession, share: 0.0025)),
            ("curl;shadow=curl", .shadow(primary: .curl, shadow: .curl, share: nil)),
            (
                "curl; shadow=urlsession; ignore=json:/a=b , field:x-request-id",
                .shadow(
                    primary: .curl, shadow: .urlsession, share: nil,
                    ignoredPlaces: ["json:/a=b", "field:x-request-id"])
            ),
            (
                "curl@95%, urlsession@5%",
                .canary(first: .curl, second: .urlsession, share: 0.05, isStickyByOrigin: false)
            ),
            (
                "urlsession@99.9%,curl@0.1%;sticky=origin",
                .canary(first: .urlsession, second: .curl, share: 0.001, isStickyByOrigin: true)
            ),
        ] as [(String, RolloutChoice.Form)])
    func `a shadow and a canary are read`(text: String, form: RolloutChoice.Form) throws {
        #expect(try RolloutChoice(text: text, from: "x").form == form)
    }

    @Test func `a shadow and a canary go by the name of their first transport`() throws {
        let shadowed = try RolloutChoice(text: "curl; shadow=urlsession@1%", from: "x").transport
        #expect(shadowed is ShadowTransport && shadowed.name == "curl")
        let canary = try RolloutChoice(text: "urlsession@90%, curl@10%", from: "x").transport
        #expect(canary is CanaryTransport && canary.name == "urlsession")
        #expect(canary.capabilities.transport == "urlsession")
    }

    @Test func `ignored places reach the shadow`() async throws {
        let choice = try RolloutChoice(text: "curl; shadow=curl@100%; ignore=text:1/1", from: "x")
        let transport = try #require(choice.transport as? ShadowTransport)
        #expect(transport.options.ignoredPlaces == ["text:1/1"])
    }

    @Test(arguments: [
        ("curl,urlsession", "the shares of two transports are percentages that add up to 100"),
        ("curl@95%,urlsession@6%", "the shares of two transports are percentages that add up to 100"),
        ("curl@0%,urlsession@100%", "a share is a percentage above 0, such as 1%"),
        ("curl@95,urlsession@5", "a share is a percentage above 0, such as 1%"),
        ("curl@-5%,urlsession@105%", "a share is a percentage above 0, such as 1%"),
        ("curl@1e1%,urlsession@90%", "a share is a percentage above 0, such as 1%"),
        ("curl@50%,urlsession@25%,curl@25%", "there are more than two transports"),
        ("curl@95%", "a share needs a second transport"),
        ("curl;", "a setting has the form name=value"),
        ("curl;urlsession", "a setting has the form name=value"),
        ("curl; shadow=urlsession=curl", "a setting has the form name=value"),
        ("curl; mirror=urlsession", "a setting is 'shadow', 'ignore' or 'sticky'"),
        ("curl; ignore=status", "it is no shadow"),
        ("curl; shadow=urlsession; ignore=", "an ignored place is like json:/time or field:x-request-id"),
        ("curl; shadow=urlsession; ignore=/time", "an ignored place is like json:/time or field:x-request-id"),
        ("curl; shadow=urlsession; ignore=status; ignore=body", "a setting is there twice"),
        ("curl@95%,urlsession@5%; ignore=status", "after two transports only 'sticky=origin' may follow"),
        ("curl; sticky=origin", "it is no shadow"),
        ("curl; shadow=libcurl@1%", "a transport is 'curl' or 'urlsession'"),
        ("curl; shadow=", "a transport is 'curl' or 'urlsession'"),
        ("curl; shadow=urlsession@", "a share is a percentage above 0, such as 1%"),
        ("curl; shadow=urlsession@1%@2%", "a transport has one share"),
        ("curl; shadow=urlsession; sticky=origin", "a shadow has no 'sticky'"),
        ("curl@95%,urlsession@5%; sticky=user", "after two transports only 'sticky=origin' may follow"),
        (" ; shadow=curl", "a transport is 'curl' or 'urlsession'"),
    ])
    func `a wrong text is refused with what is wrong`(text: String, reason: String) throws {
        let error = try #require(throws: NetworkError.self) {
            try RolloutChoice(text: text, from: "NETWORK_TRANSPORT")
        }
        #expect(error.code == .invalidConfiguration)
        #expect(
            error.message
                == "NETWORK_TRANSPORT is \(text), and not like curl; shadow=urlsession@1% or like curl@95%, "
                + "urlsession@5%; \(reason)")
    }

    @Test func `an odd text is shown printable and short`() throws {
        let text = "\u{1B}[2J\r\n" + String(repeating: "x", count: 500) + ";"
        let error = try #require(throws: NetworkError.self) { try RolloutChoice(text: text, from: "x") }
        #expect(error.message.hasPrefix("x is \\u{1B}[2J\\r\\nxxx"))
        #expect(error.message.count < 300)
    }
}
