/// A value on the heap: a copy costs one reference, and is made when it is changed while others have it.
///
/// For values of many fields that go through many asynchronous functions: each of these keeps its values in a frame of its own,
/// for as long as it waits.
struct CopyOnWrite<Value: Sendable>: Sendable {
    /// @unchecked: changed only while this is the one reference to it.
    private final class Storage: @unchecked Sendable {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    private var storage: Storage

    init(_ value: Value) { storage = Storage(value) }

    var value: Value {
        _read { yield storage.value }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
            yield &storage.value
        }
    }

    /// Whether it is the very same copy, which is a quick way to know that it is equal.
    func isSame(as other: CopyOnWrite) -> Bool { storage === other.storage }
}

extension CopyOnWrite: CustomReflectable {
    var customMirror: Mirror { Mirror(reflecting: value) }
}
