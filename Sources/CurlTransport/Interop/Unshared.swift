/// An object with a state that one thread at a time accesses, in memory of its own.
///
/// For what the loop's thread changes often. A class's property would be checked for overlapping accesses each time at
/// run time, which takes a hundred instructions. Here nothing is checked, so no function called during a change may
/// access the same part of the state again.
@safe class Unshared<State> {
    private let address: UnsafeMutablePointer<State>

    init(_ state: consuming State) {
        unsafe address = .allocate(capacity: 1)
        unsafe address.initialize(to: state)
    }

    /// The state, in its place.
    final var state: State {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(address) }
        @inline(__always) unsafeMutableAddress { unsafe address }
    }

    deinit {
        unsafe address.deinitialize(count: 1)
        unsafe address.deallocate()
    }
}
