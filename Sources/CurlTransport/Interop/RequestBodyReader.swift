import CCurl

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Gives libcurl a body piece by piece, and again from the start when it asks (a kept-alive connection that turned out to
/// be closed, an answer to a challenge).
///
/// Only used on the loop thread, inside libcurl's callbacks.
final class RequestBodyReader {
    private let bytes: Data
    private var position = 0
    /// Called after each piece, to note that something moves.
    var onProgress: (() -> Void)?

    init(_ bytes: Data) { self.bytes = bytes }

    /// CURLOPT_READFUNCTION. 0 is the end.
    static let read: ccurl_data_callback = { buffer, size, count, context in
        guard let buffer, let context else { return ccurl_readfunc_abort }
        let reader = Unmanaged<RequestBodyReader>.fromOpaque(context).takeUnretainedValue()
        let wanted = min(size * count, reader.bytes.count - reader.position)
        guard wanted > 0 else { return 0 }
        let start = reader.bytes.startIndex + reader.position
        let target = UnsafeMutableRawBufferPointer(start: buffer, count: wanted)
        reader.bytes.copyBytes(to: target, from: start..<(start + wanted))
        reader.position += wanted
        reader.onProgress?()
        return wanted
    }

    /// CURLOPT_SEEKFUNCTION. libcurl asks for absolute positions only.
    static let seek: ccurl_seek_callback = { context, offset, origin in
        guard let context, origin == 0 else { return ccurl_seek_fail }
        let reader = Unmanaged<RequestBodyReader>.fromOpaque(context).takeUnretainedValue()
        guard offset >= 0, offset <= reader.bytes.count else { return ccurl_seek_fail }
        reader.position = Int(offset)
        return ccurl_seek_ok
    }
}
