// The C library under one name, so that no other file chooses between implementations.
#if canImport(Musl)
@_exported public import Musl
#else
@_exported public import Glibc
#endif
