// The module for most programs: the core and both transports under one name.
@_exported public import CurlTransport
@_exported public import NetworkCore
@_exported public import URLSessionTransport
