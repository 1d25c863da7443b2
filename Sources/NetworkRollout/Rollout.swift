public import NetworkCore
import NetworkLayer

/// Shadows and canaries by the environment variable `NETWORK_TRANSPORT`.
///
/// | value | meaning |
/// | --- | --- |
/// | `curl; shadow=urlsession@1%` | all requests go over curl, 1 % of them over URLSession too: ``ShadowTransport`` |
/// | `curl; shadow=urlsession; ignore=json:/time, field:x-request-id` | the same, and these places are not compared |
/// | `curl@95%, urlsession@5%` | 5 % of the requests go over URLSession: ``CanaryTransport`` |
/// | `curl@95%, urlsession@5%; sticky=origin` | the same, and all requests to an origin use one transport |
///
/// A share is a number of percent above 0, with or without a fraction. Blanks around `;`, `,`, `=` and `@` do not
/// count. A shadow without a share gets 1 % of the requests. Ignored places are
/// ``ShadowTransport/Options/ignoredPlaces``; one with a `,` or `;` in its name can be ignored only there.
public enum Rollout {
    /// Makes ``NetworkLayer/DefaultTransport`` accept the values in the table above. Without this call, such a value
    /// makes each request fail with ``NetworkCore/NetworkError/Code/invalidConfiguration``.
    ///
    /// Call it at the start of the program: the variable is read once, by the first request over the default transport.
    public static func enable() {
        DefaultTransport.readRollouts { try RolloutChoice(text: $0, from: TransportKind.variable).transport }
    }

    /// Returns a new shadow or canary over the shared transports, as a text of the table above describes it.
    /// - Parameters:
    ///   - text: The text.
    ///   - source: Where the text comes from, for the error: a variable, an option.
    /// - Throws: ``NetworkCore/NetworkError/Code/invalidConfiguration``, which says what is wrong with the text.
    public static func transport(_ text: String, from source: String) throws -> any HTTPTransport {
        try RolloutChoice(text: text, from: source).transport
    }
}
