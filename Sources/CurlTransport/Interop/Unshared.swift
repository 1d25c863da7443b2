/// A value that one thread at a time accesses, in memory of its own.
///
/// For values that the loop's thread changes often. A class's property would be checked for overlapping accesses each
/// time at run time, which takes a hundred instructions. Here nothing is checked, so no function called during a change
/// may access the value again.
@safe struct Unshared<Value>: ~Copyable {
    fileprivate let address: UnsafeMutablePointer<Value>

    init(_ value: consuming Value) {
        unsafe address = .allocate(capacity: 1)
        unsafe address.initialize(to: value)
    }

    deinit {
        unsafe address.deinitialize(count: 1)
        unsafe address.deallocate()
    }
}

extension Transfer {
    /// The state that the transfer's callbacks need.
    var state: TransferState {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(ownState.address) }
        @inline(__always) unsafeMutableAddress { unsafe ownState.address }
    }
}

extension LoopClock {
    /// What the current call of libcurl may still hand out.
    var callShare: CallShare {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(ownShare.address) }
        @inline(__always) unsafeMutableAddress { unsafe ownShare.address }
    }
}

extension LoopCore {
    /// The state that changes all the time.
    var state: State {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(ownState.address) }
        @inline(__always) unsafeMutableAddress { unsafe ownState.address }
    }
}
