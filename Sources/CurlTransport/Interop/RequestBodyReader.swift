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
    /// Where the bytes are.
    enum Source {
        case bytes(Data)
        case upload(UploadChannel)
    }

    private let source: Source
    private var position = 0
    /// Whether a streamed body's end was told.
    private var hasEnded = false
    /// Called after each piece, to note that something moves.
    var onProgress: (() -> Void)?
    /// Called when the body can't go on, with the reason.
    var onFailure: ((any Error) -> Void)?

    init(_ source: Source) { self.source = source }

    /// The channel of a streamed body.
    var upload: UploadChannel? {
        guard case .upload(let upload) = source else { return nil }
        return upload
    }

    /// Whether libcurl has been given the whole body, and has sent that many bytes.
    func isWhole(sent: Int) -> Bool {
        guard sent >= position else { return false }
        return if case .bytes(let bytes) = source { position == bytes.count } else { hasEnded }
    }

    /// CURLOPT_READFUNCTION. 0 is the end.
    static let read: ccurl_data_callback = { buffer, size, count, context in
        guard let buffer, let context else { return ccurl_readfunc_abort }
        let reader = Unmanaged<RequestBodyReader>.fromOpaque(context).takeUnretainedValue()
        return reader.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
    }

    private func read(into target: UnsafeMutableRawBufferPointer) -> Int {
        switch source {
        case .bytes(let bytes): return copy(bytes.dropFirst(position), to: target)
        case .upload(let upload):
            switch upload.take(target.count) {
            case .bytes(let bytes): return copy(bytes, to: target)
            case .nothingYet: return ccurl_readfunc_pause
            case .end:
                hasEnded = true
                return 0
            case .failed(let error):
                onFailure?(error)
                return ccurl_readfunc_abort
            }
        }
    }

    private func copy(_ bytes: Data, to target: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(target.count, bytes.count)
        guard count > 0 else { return 0 }
        bytes.copyBytes(to: target, from: bytes.startIndex..<(bytes.startIndex + count))
        position += count
        onProgress?()
        return count
    }

    /// CURLOPT_SEEKFUNCTION. libcurl asks for absolute positions, and for streams only for the start.
    static let seek: ccurl_seek_callback = { context, offset, origin in
        guard let context, origin == 0 else { return ccurl_seek_fail }
        let reader = Unmanaged<RequestBodyReader>.fromOpaque(context).takeUnretainedValue()
        switch reader.source {
        case .bytes(let bytes):
            guard offset >= 0, offset <= bytes.count else { return ccurl_seek_fail }
        case .upload(let upload):
            guard offset == 0, upload.restart() else { return ccurl_seek_fail }
        }
        reader.position = Int(offset)
        reader.hasEnded = false
        return ccurl_seek_ok
    }
}
