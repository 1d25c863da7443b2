import FoundationEssentials

extension RequestContent {
    /// Creates content of parameters as an HTML form: `application/x-www-form-urlencoded`, sorted by name.
    /// - Parameters:
    ///   - parameters: The fields. A field that can't be encoded fails the request with
    ///     ``NetworkError/Code/invalidParameters``, which names it, and so does a form of more than 64 MiB.
    ///   - conventions: The way lists, objects, booleans and dates are written. Default: `nil`, for the request's
    ///     (``RequestData/conventions``).
    public static func form(
        _ parameters: [String: ParameterValue],
        conventions: RequestData.Conventions? = nil
    ) -> RequestContent {
        RequestContent(FormContent(parameters: parameters, conventions: conventions))
    }
}

/// An encoder of forms.
struct FormContent: ClientBodyEncoder {
    let parameters: [String: ParameterValue]
    let conventions: RequestData.Conventions?

    func encode(by defaults: RequestContent.Defaults) throws -> RequestContent.Encoded {
        let encoder = QueryEncoder(
            conventions ?? defaults.conventions, limit: .form, escape: PercentEncoding.formComponent)
        let text = try encoder.encode(parameters)
        return RequestContent.Encoded(.bytes(Data(text.utf8)), contentType: "application/x-www-form-urlencoded")
    }
}
