import CCurl
import NetworkCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Where libcurl's memory comes from (curl_global_init_mem): the C library, but for its large buffers.
///
/// libcurl allocates the buffers for receiving and sending anew for each transfer, up to 320 KiB, and the C library gives them
/// back to the kernel in between. Every piece is the C library's own all the same, so that whoever else uses libcurl in this
/// process may free what it gave him either way.
enum CurlMemory {
    /// Initialises libcurl with it. Where somebody did so before, he has chosen the memory already.
    static func initialise() -> CURLcode {
        curl_global_init_mem(Int(ccurl_global_all), allocate, release, realloc, copy, calloc)
    }

    private static let allocate: curl_malloc_callback = { bytes in
        bytes < smallest ? malloc(bytes) : allocateBuffer(bytes)
    }

    private static func allocateBuffer(_ bytes: Int) -> UnsafeMutableRawPointer? {
        guard let capacity = BufferMemory.capacity(for: bytes) else { return malloc(bytes) }
        return BufferMemory.shared.take(capacity)
    }

    private static let release: curl_free_callback = { piece in
        guard let piece else { return }
        let usable = malloc_usable_size(piece)
        if usable < smallest { free(piece) } else { releaseBuffer(piece, usable) }
    }

    private static func releaseBuffer(_ piece: UnsafeMutableRawPointer, _ usable: Int) {
        guard usable <= largest, let capacity = BufferMemory.capacity(within: usable), buffers.contains(capacity) else {
            return free(piece)
        }
        BufferMemory.shared.give(piece, capacity: capacity)
    }

    private static let copy: curl_strdup_callback = { text in text.flatMap { strdup($0) } }

    /// What libcurl allocates again and again: its buffers for receiving and sending, with a byte more. Anything else of that
    /// size, kept, would leave no room for these.
    private static let buffers = [LibcurlSupport.largeBuffer + 1, 64 << 10].compactMap(BufferMemory.capacity(for:))
    private static var smallest: Int { 32 << 10 }
    /// A little above the largest piece: what the C library adds to it.
    private static var largest: Int { (1 << 20) + 64 }
}
