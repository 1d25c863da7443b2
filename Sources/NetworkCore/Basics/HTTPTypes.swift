// Methods, statuses and header fields are apple/swift-http-types': a user of this library sees them without an import.
@_exported public import HTTPTypes
