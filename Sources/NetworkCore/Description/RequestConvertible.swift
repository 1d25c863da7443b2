/// Whatever can be asked: all of the ways to describe a request end in one ``RequestData``.
public protocol RequestConvertible {
    /// What to ask.
    var data: RequestData { get }
}

extension RequestData: RequestConvertible {
    /// Itself.
    public var data: RequestData { self }
}
