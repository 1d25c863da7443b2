extension Exclusion.Case {
    /// The version that will end an exclusion of URLSession. All of the exclusions were observed with Swift 6.3.1 over
    /// libcurl 7.88.1.
    var urlSessionEnd: String {
        switch self {
        case .conflictingLengths: "any Swift, over a libcurl that refuses them"
        case .largeHead: "any Swift, over a libcurl from 8.3 on"
        default: "a Swift after 6.3 whose URLSession \(change)"
        }
    }

    private var change: String {
        switch self {
        case .requestFieldCase: "sends names as they are written"
        case .repeatedRequestFields: "sends repeated fields apart"
        case .bodyOnGet: "sends it"
        case .rawBody: "can hand over the encoded bytes"
        case .ipv6Literal: "connects to such addresses"
        case .http1_0: "lets the version be chosen"
        case .headOfOddBytes: "reads Latin-1"
        case .headWithoutSpaces, .headWithoutReason: "reads such a line"
        case .headWithBareLineFeeds: "reads such lines"
        case .redirectWithoutLocation: "keeps the body"
        case .truncatedGzip: "looks for the encoding's end"
        case .trailers: "reads trailers"
        case .fieldOrder: "keeps the order"
        case .repeatedFieldsOfOtherCase: "keeps all of them"
        case .immediateReuse: "frees the connection with the response"
        case .headThatEndsEarly, .redirectToOddHost, .enormousLength: "fails the exchange instead"
        case .backPressure: "can suspend a task without damage to its body"
        case .uploadOnAClosedConnection: "rewinds the body"
        case .headWithOddNames: "reads past such a line"
        case .manyFields: "reads them in linear time"
        case .slowUpload: "tells what the server has taken"
        case .nestedEncodings: "decodes on its reader's side, and refuses more than two encodings"
        case .droppedFlood: "lets a cancelled task come between two reads"
        case .methodCase: "sends methods as they are written"
        case .resetInHandshake: "tells in which phase a connection ends"
        case .conflictingLengths, .largeHead: ""
        }
    }
}
