/// A value that one thread at a time reaches, in memory of its own.
///
/// For what the loop's thread changes often. A class's property would be checked for overlapping accesses each time, at
/// run time: a hundred instructions. Here nothing is checked, so nothing that is called while the value is changed may
/// come back to it.
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
    /// What its callbacks have to know.
    var state: TransferState {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(ownState.address) }
        @inline(__always) unsafeMutableAddress { unsafe ownState.address }
    }
}

extension LoopClock {
    /// What the call of libcurl that is under way may still hand out.
    var callShare: CallShare {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(ownShare.address) }
        @inline(__always) unsafeMutableAddress { unsafe ownShare.address }
    }
}

extension LoopCore {
    /// What changes all the time.
    var state: State {
        @inline(__always) unsafeAddress { unsafe UnsafePointer(ownState.address) }
        @inline(__always) unsafeMutableAddress { unsafe ownState.address }
    }
}
