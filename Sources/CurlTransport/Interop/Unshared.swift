/// A value that one thread at a time accesses, in memory of its own.
///
/// For values that the loop's thread changes often. A class's property would be checked for overlapping accesses each
/// time at run time, which takes a hundred instructions. Here nothing is checked, so no function called during a change
/// may access the value again.
@safe struct Unshared<Value>: ~Copyable {
    private let address: UnsafeMutablePointer<Value>

    init(_ value: consuming Value) {
        unsafe address = .allocate(capacity: 1)
        unsafe address.initialize(to: value)
    }

    /// The value, in its place.
    var value: Value {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(address) }
        @inline(__always) nonmutating unsafeMutableAddress { unsafe address }
    }

    deinit {
        unsafe address.deinitialize(count: 1)
        unsafe address.deallocate()
    }
}
