import CCurl
import CLibrary

/// Lines for libcurl (curl_slist), in one block of memory.
struct TextList {
    private var bytes: [UInt8] = []
    private var count = 0

    init() { bytes.reserveCapacity(256) }

    init(_ lines: [String]) {
        self.init()
        for line in lines { append(line) }
    }

    /// Appends one line, given in parts. None of them may contain a NUL, which would end the line.
    mutating func append(_ first: String, _ second: String = "", _ third: String = "") {
        count += 1
        bytes.append(contentsOf: first.utf8)
        bytes.append(contentsOf: second.utf8)
        bytes.append(contentsOf: third.utf8)
        bytes.append(0)
    }

    /// Returns the list as libcurl traverses it: its nodes, then their texts.
    /// - Returns: The memory, which begins with the first node and which the caller deallocates; `nil` for no lines.
    func linked() -> UnsafeMutableRawPointer? {
        guard count > 0 else { return nil }
        let nodesSize = unsafe count * MemoryLayout<curl_slist>.stride
        let memory = unsafe UnsafeMutableRawPointer.allocate(
            byteCount: nodesSize + bytes.count, alignment: MemoryLayout<curl_slist>.alignment)
        let texts = unsafe memory + nodesSize
        unsafe bytes.withUnsafeBytes { unsafe texts.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        let nodes = unsafe memory.bindMemory(to: curl_slist.self, capacity: count)
        var text = unsafe texts.assumingMemoryBound(to: CChar.self)
        for index in 0..<count {
            unsafe (nodes + index).initialize(
                to: curl_slist(data: text, next: index + 1 < count ? nodes + index + 1 : nil))
            unsafe text += strlen(text) + 1
        }
        return unsafe memory
    }
}
