// Methods, statuses and header fields are the types of apple/swift-http-types; users of this library need no import for
// them.
@_exported public import HTTPTypes
