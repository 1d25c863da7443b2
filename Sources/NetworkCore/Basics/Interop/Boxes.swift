/// A value on the heap. A copy costs one reference; the value is copied when one of several owners changes it.
@usableFromInline
struct CopyOnWrite<Value: Sendable>: Sendable {
    /// @unchecked: changed only while there is one reference to it, so that nothing else reads it.
    @usableFromInline final class Storage: @unchecked Sendable {
        /// Not checked for exclusive access, which the holder of the only reference has.
        @exclusivity(unchecked) @usableFromInline var value: Value

        @inlinable
        init(_ value: Value) { unsafe self.value = value }
    }

    @usableFromInline var storage: Storage

    @inlinable
    init(_ value: Value) { storage = Storage(value) }

    @inlinable var value: Value {
        _read { yield unsafe storage.value }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = unsafe Storage(storage.value) }
            yield unsafe &storage.value
        }
    }
}

extension CopyOnWrite: CustomReflectable {
    @usableFromInline var customMirror: Mirror { Mirror(reflecting: value) }
}

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
