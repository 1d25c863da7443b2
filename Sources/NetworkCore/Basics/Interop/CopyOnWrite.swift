/// A value on the heap: a copy costs one reference, and is made when it is changed while others have it.
///
/// For values of many fields that go through many asynchronous functions: each of these keeps its values in a frame of
/// its own, for as long as it waits. Inlined into other modules, or each look at a field would copy it.
@usableFromInline
struct CopyOnWrite<Value: Sendable>: Sendable {
    /// @unchecked: changed only while there is one reference to it, so that nobody else reads it.
    @usableFromInline final class Storage: @unchecked Sendable {
        /// Not checked for exclusive access, which whoever holds the one reference has.
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
