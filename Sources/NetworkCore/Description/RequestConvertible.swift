/// A type that describes a request. Every description is converted to one ``RequestData``.
public protocol RequestConvertible {
    /// The request as data.
    var data: RequestData { get }
}

extension RequestData: RequestConvertible {
    /// The request itself.
    public var data: RequestData { self }
}
