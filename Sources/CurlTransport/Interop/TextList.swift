import CCurl

/// Lines for libcurl (curl_slist), in one piece of memory.
struct TextList {
    private var bytes: [UInt8] = []
    private var starts: [Int] = []

    init() { bytes.reserveCapacity(256) }

    init(_ lines: [String]) {
        self.init()
        for line in lines { append(line) }
    }

    /// Appends one line, given in parts. None of them has a NUL, where the line would end.
    mutating func append(_ first: String, _ second: String = "", _ third: String = "") {
        starts.append(bytes.count)
        bytes.append(contentsOf: first.utf8)
        bytes.append(contentsOf: second.utf8)
        bytes.append(contentsOf: third.utf8)
        bytes.append(0)
    }

    /// The list as libcurl walks it: its nodes, then their texts.
    /// - Returns: The memory, which begins with the first node, to be deallocated by the caller; `nil` for no lines.
    func linked() -> UnsafeMutableRawPointer? {
        guard !starts.isEmpty else { return nil }
        let stride = MemoryLayout<curl_slist>.stride
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: starts.count * stride + bytes.count, alignment: MemoryLayout<curl_slist>.alignment)
        let texts = memory + starts.count * stride
        bytes.withUnsafeBytes { texts.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        let nodes = memory.bindMemory(to: curl_slist.self, capacity: starts.count)
        for (index, start) in starts.enumerated() {
            let text = (texts + start).assumingMemoryBound(to: CChar.self)
            (nodes + index).initialize(
                to: curl_slist(data: text, next: index + 1 < starts.count ? nodes + index + 1 : nil))
        }
        return memory
    }
}
