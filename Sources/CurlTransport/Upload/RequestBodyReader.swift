import FoundationEssentials
import HTTPTypes

/// Delivers a body to libcurl chunk by chunk, and again from the start when libcurl rewinds it (after a kept-alive
/// connection that turned out to be closed, or a challenge).
///
/// Used only on the loop's thread, inside libcurl's callbacks.
final class RequestBodyReader: EasyBody {
    /// The source of the bytes.
    enum Source {
        case bytes(Data)
        case upload(UploadChannel)
    }

    private let source: Source
    private(set) var position = 0
    private(set) var delivered: MonotonicTime?
    /// Whether libcurl has received a streamed body's end.
    private var hasEnded = false

    init(_ source: Source) { self.source = source }

    var trailerLines: [String]? {
        guard case .upload(let upload) = source, upload.hasTrailers else { return nil }
        return upload.trailers.map { "\($0.name.rawName): \($0.value)" }
    }

    func isWhole(sent: Int) -> Bool {
        guard sent >= position else { return false }
        switch source {
        case .bytes(let bytes): return position == bytes.count
        // libcurl does not read the end of a stream whose length it knows.
        case .upload(let upload): return hasEnded || position == upload.length
        }
    }

    func read(into room: inout BorrowedRoom) -> BodyReading {
        switch source {
        case .bytes(let bytes):
            let start = bytes.startIndex + position
            let piece = bytes[start..<min(bytes.endIndex, start + room.left)]
            room.append(piece)
            position += piece.count
            if position == bytes.count { delivered = .now }
            return .filled
        case .upload(let upload): return read(upload, into: &room)
        }
    }

    private func read(_ upload: UploadChannel, into room: inout BorrowedRoom) -> BodyReading {
        while room.left > 0 {
            let isEmpty = room.filled == 0
            switch upload.take(room.left, pauses: isEmpty) {
            case .bytes(let bytes):
                room.append(bytes)
                position += bytes.count
                if position == upload.length { delivered = .now }
            case .nothingYet where !isEmpty, .end where !isEmpty, .failed where !isEmpty: return .filled
            case .nothingYet: return .pause
            case .end:
                (hasEnded, delivered) = (true, delivered ?? .now)
                return .filled
            case .failed(let error): return .failure(error)
            }
        }
        return .filled
    }

    func seek(to position: Int) -> Bool {
        switch source {
        case .bytes(let bytes): guard position >= 0, position <= bytes.count else { return false }
        case .upload(let upload): guard position == 0, upload.restart() else { return false }
        }
        self.position = position
        (hasEnded, delivered) = (false, nil)
        return true
    }
}
