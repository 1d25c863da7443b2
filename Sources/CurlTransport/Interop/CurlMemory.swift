import CCurl
import CLibrary

/// The source of libcurl's memory (curl_global_init_mem): the C library, except for the buffers of versions below 8.7.
///
/// These allocate the buffers for receiving and sending anew for each transfer. The C library returns large ones to the
/// kernel in between, so that ten page faults follow for each 64 KiB; those of 16 KiB lie among memory that lives as
/// long as a connection, and their pages never go back. So both come from a region of our own, with as many pieces as
/// most programs need at a time. Newer versions keep one buffer for all transfers. libcurl does not hand these buffers
/// out. What it hands out is the C library's, so that other users of libcurl in this process may free it either way. A
/// text of exactly such a size from curl_easy_unescape must be freed with curl_free, as the manual says.
enum CurlMemory {
    /// Initializes libcurl with this memory. If other code has initialized libcurl before, its choice of memory stays.
    static func initialise() -> CURLcode {
        // 8.7.
        let allocatesBuffers = unsafe ccurl_version_info().pointee.version_num < 0x08_0700
        guard allocatesBuffers, region.start != 0 else { return curl_global_init(Int(ccurl_global_all)) }
        unsafe place = (region.start, region.count)
        return unsafe curl_global_init_mem(Int(ccurl_global_all), allocate, release, resize, copy, calloc)
    }

    /// Returns the pages of unused buffers to the kernel.
    static func drop() { if unsafe place.count > 0 { region.drop() } }

    private static let region = BufferRegion(
        LibcurlSupport.largeBuffers.map { ($0.bytes + 1, $0.transfers) } + [
            (LibcurlSupport.defaultBuffer + 1, LibcurlSupport.manyTransfers),
            (LibcurlSupport.defaultUploadBuffer, LibcurlSupport.fewTransfers),
            (LibcurlSupport.largeUploadBuffer, LibcurlSupport.fewUploads),
        ])

    /// The region's place. Read for each of some fifty allocations of a request, and so not behind a lazy `static let`.
    /// Written once, before libcurl has any memory. Another user of libcurl may read it meanwhile for a piece of its
    /// own: with the old value, the new one, or half of each, that piece is not in the region.
    nonisolated(unsafe) private static var place: (start: UInt, count: UInt) = (1 << (UInt.bitWidth - 1), 0)

    private static let allocate: curl_malloc_callback = { bytes in
        unsafe bytes < smallest ? malloc(bytes) : region.take(bytes) ?? malloc(bytes)
    }

    private static let release: curl_free_callback = { piece in
        if unsafe UInt(bitPattern: piece) &- place.start < place.count {
            unsafe region.give(piece)
        } else {
            unsafe free(piece)
        }
    }

    private static let resize: curl_realloc_callback = { piece, bytes in
        guard let piece = unsafe piece, unsafe region.holds(piece) else { return unsafe realloc(piece, bytes) }
        guard let other = unsafe malloc(bytes) else { return nil }
        unsafe other.copyMemory(from: piece, byteCount: min(bytes, region.size(of: piece)))
        unsafe region.give(piece)
        return unsafe other
    }

    private static let copy: curl_strdup_callback = { text in unsafe text.flatMap { unsafe strdup($0) } }

    /// Below all sizes of the region.
    private static var smallest: Int { LibcurlSupport.defaultBuffer }
}
