/// A value that goes to another thread and is not used here again.
///
/// @unchecked: the compiler can't see that its maker drops it.
@safe package struct HandedOver<Value>: @unchecked Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }
}

/// A value that nothing else refers to, as one that was just made behind an `any`.
func unshared<Value>(_ value: Value) -> sending Value {
    // Its maker drops it with this call, which the compiler can't see through `any`.
    nonisolated(unsafe) let value = value
    return unsafe value
}
