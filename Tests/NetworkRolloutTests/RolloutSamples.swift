import NetworkLayer
import NetworkRollout

/// The samples of the article on shadows and canaries, word for word. `DocumentationTests` compares the two.
enum RolloutSamples {
    static func enabled() {
        Rollout.enable()
    }

    static func shadowAndCanary() {
        var options = ShadowTransport.Options()
        options.share = 0.01
        let transport = ShadowTransport(
            primary: CurlNetworkDispatcher.shared, shadow: URLSessionNetworkDispatcher.shared, options: options
        ) { difference in
            print(difference)
        }
        let client = NetworkClient(transport: transport)
        print(client)

        var trial = CanaryTransport.Options()
        trial.share = 0.05
        let canary = CanaryTransport(
            primary: CurlNetworkDispatcher.shared, canary: URLSessionNetworkDispatcher.shared, options: trial)
        print(canary.name)

        trial.assignment = .key { request in request.headerFields[.userID] ?? "" }
    }
}

extension HTTPField.Name {
    static let userID = HTTPField.Name("X-User-ID")!
}
