/// A value that goes to another thread and is not used on this one again.
///
/// @unchecked: the compiler can't see that the sender drops the value.
@safe package struct HandedOver<Value>: @unchecked Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }
}

/// Returns a value to which nothing else refers, such as one that was just created behind an `any`, as `sending`.
func unshared<Value>(_ value: Value) -> sending Value {
    // The caller gives up the value with this call, which the compiler can't see through `any`.
    nonisolated(unsafe) let value = value
    return unsafe value
}
