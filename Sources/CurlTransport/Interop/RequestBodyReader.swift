import CCurl
import FoundationEssentials

/// Delivers a body to libcurl chunk by chunk, and again from the start when libcurl rewinds it (after a kept-alive
/// connection that turned out to be closed, or a challenge).
///
/// Used only on the loop's thread, inside libcurl's callbacks.
final class RequestBodyReader {
    /// The source of the bytes.
    enum Source {
        case bytes(Data)
        case upload(UploadChannel)
    }

    private let source: Source
    /// The number of bytes that libcurl has been given.
    private(set) var position = 0
    /// Whether libcurl has received a streamed body's end.
    private var hasEnded = false

    init(_ source: Source) { self.source = source }

    /// The channel of a streamed body.
    var upload: UploadChannel? {
        guard case .upload(let upload) = source else { return nil }
        return upload
    }

    /// Returns whether libcurl has been given the whole body and has sent that many bytes.
    func isWhole(sent: Int) -> Bool {
        guard sent >= position else { return false }
        switch source {
        case .bytes(let bytes): return position == bytes.count
        // libcurl does not read the end of a stream whose length it knows.
        case .upload(let upload): return hasEnded || position == upload.length
        }
    }

    /// The result when libcurl requests bytes.
    enum Reading {
        /// The number of bytes; 0 at the end.
        case bytes(Int)
        /// There are no bytes yet.
        case pause
        case failure(any Error)
    }

    /// Fills the target as far as there are bytes.
    func read(into target: UnsafeMutableRawBufferPointer) -> Reading {
        switch source {
        case .bytes(let bytes):
            let count = min(target.count, bytes.count - position)
            unsafe bytes.withUnsafeBytes {
                unsafe target.copyMemory(from: .init(rebasing: $0[position..<position + count]))
            }
            position += count
            return .bytes(count)
        case .upload(let upload): return unsafe read(upload, into: target)
        }
    }

    private func read(_ upload: UploadChannel, into target: UnsafeMutableRawBufferPointer) -> Reading {
        var filled = 0
        while filled < target.count {
            switch upload.take(target.count - filled, pauses: filled == 0) {
            case .bytes(let bytes):
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: target[filled...])
                unsafe bytes.withUnsafeBytes { unsafe rest.copyMemory(from: $0) }
                filled += bytes.count
                position += bytes.count
            case .nothingYet where filled > 0, .end where filled > 0, .failed where filled > 0: return .bytes(filled)
            case .nothingYet: return .pause
            case .end:
                hasEnded = true
                return .bytes(0)
            case .failed(let error): return .failure(error)
            }
        }
        return .bytes(filled)
    }

    /// CURLOPT_SEEKFUNCTION. libcurl seeks to absolute positions, and in streams only to the start.
    static let seek: ccurl_seek_callback = { context, offset, origin in
        guard let context = unsafe context, origin == 0 else { return ccurl_seek_fail }
        let reader = unsafe Unmanaged<RequestBodyReader>.fromOpaque(context).takeUnretainedValue()
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
