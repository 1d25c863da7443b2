import CLibrary
import FoundationEssentials

/// An incomplete file: `NAME.partial` next to `NAME`, with `NAME.partial.json` for the version that it is a part of.
/// The record is there before the file, goes after it, and is locked in between. A partial file without a record, and a
/// record with bytes that no download writes, are a user's and left alone. All methods block.
struct PartialFile {
    let path: String
    private let file: SystemFile
    private let recordFile: SystemFile
    private let permissions: mode_t?
    /// Whether the permissions are those of the file that is replaced.
    private let inherits: Bool
    private let replaced: FilePlace.Attributes?
    /// Whether this download owns the bytes in the file, because it restarted or resumed it.
    private var isOwn = false
    private(set) var length: Int
    /// The version of the bytes in the file; `nil` if no download can resume them.
    private(set) var record: PartialRecord?
    /// The checksum of the bytes in the file; `nil` if none is wanted, or if it has to be computed again.
    private var checksum: (any Checksum)?
    private let makeChecksum: (@Sendable () -> any Checksum)?

    private var partialPath: String { path + ".partial" }
    private var recordPath: String { path + ".partial.json" }
    /// The limit on a record, in bytes. It holds a URL, which may be long.
    private static let maximumRecordBytes = 1 << 20
    /// The record of bytes that no download can resume. It is no text that a user's file is likely to hold.
    private static let emptyRecord = Data(#"{"validator":null}"#.utf8)

    init(
        for path: String,
        permissions: UInt16? = nil,
        checksum: (@Sendable () -> any Checksum)? = nil
    ) throws(NetworkError) {
        guard case .file(let path, let existing) = try FilePlace(toWrite: path) else { throw .file(path, EEXIST) }
        try Self.checkRoom(behind: path)
        self.path = path
        replaced = existing
        self.permissions = permissions.map { mode_t($0) } ?? existing?.permissions
        inherits = permissions == nil
        makeChecksum = checksum
        // Only users that may read the whole file may read a part; its owner also writes it.
        let isPrivate = self.permissions != nil
        let (lock, isCreated) = try Self.lockedRecord(at: path + ".partial.json")
        recordFile = lock
        do throws(NetworkError) {
            let isNew: Bool
            (isNew, record) = try Self.content(of: lock, at: path + ".partial.json")
            (file, length) = try Self.opened(path + ".partial", isPrivate: isPrivate, isNew: isNew, lock)
        } catch {
            // Only the first error is reported.
            if isCreated { try? SystemFile.remove(path + ".partial.json") }
            try? lock.close()
            throw error
        }
    }

    /// Opens the partial file. If the record is new, the file must not be there yet, and the record is written first.
    private static func opened(
        _ path: String, isPrivate: Bool, isNew: Bool, _ recordFile: SystemFile
    ) throws(NetworkError) -> (SystemFile, length: Int) {
        if isNew {
            guard try SystemFile.status(of: path) == nil else { throw inTheWay(path) }
            try write(nil, to: recordFile)
        }
        let file = try SystemFile(
            opening: path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: isPrivate ? 0o600 : 0o666)
        do throws(NetworkError) {
            let status = try file.status()
            // In a folder that others may write to, another user may have put the file there.
            guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == SystemFile.ownUser else {
                throw .file(path, EEXIST)
            }
            // An earlier download with other permissions may have left it.
            if isPrivate { try file.setPermissions(0o600) }
            return (file, Int(status.st_size))
        } catch {
            try? file.close()  // Only the first error is reported.
            throw error
        }
    }

    /// Returns the error for a file that a download would overwrite but that no download left there.
    private static func inTheWay(_ path: String) -> NetworkError {
        let problem = "is in the way of a download, but no download left it there; it is unchanged"
        return .file(path, EEXIST, .unwritableFile, problem, .preparing)
    }

    /// Refuses a name that leaves no room for the longer names, one of which may fit and the other not.
    private static func checkRoom(behind path: String) throws(NetworkError) {
        let length = path.utf8.count + ".partial.json".utf8.count
        guard length - FilePlace.folder(of: path).utf8.count <= Int(NAME_MAX), length < Int(PATH_MAX) else {
            throw .file(path, ENAMETOOLONG)
        }
    }

    private static func lockedRecord(at path: String) throws(NetworkError) -> (SystemFile, isCreated: Bool) {
        while true {
            var isCreated = true
            let file: SystemFile
            do throws(NetworkError) {
                file = try SystemFile(opening: path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            } catch {
                guard error.errno == EEXIST else { throw error }
                isCreated = false
                do throws(NetworkError) {
                    file = try SystemFile(opening: path, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
                } catch {
                    switch error.errno {
                    case ENOENT: continue
                    // A link, a pipe, a folder, or a file of another user's.
                    case ELOOP, ENXIO, EISDIR, EACCES, EPERM: throw inTheWay(path)
                    default: throw error
                    }
                }
            }
            do throws(NetworkError) {
                guard try file.lock() else { throw .file(path, EBUSY) }
                // Between opening and locking, the download that held the lock may have removed the record.
                if try file.isNamed(path) { return (file, isCreated) }
            } catch {
                try? file.close()  // Only the first error is reported.
                throw error
            }
            try file.close()
        }
    }

    private static func content(
        of file: SystemFile, at path: String
    ) throws(NetworkError) -> (isNew: Bool, PartialRecord?) {
        let status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == SystemFile.ownUser,
            status.st_size <= maximumRecordBytes
        else { throw inTheWay(path) }
        let bytes = try file.read(upTo: maximumRecordBytes)
        if bytes.isEmpty || bytes == emptyRecord { return (bytes.isEmpty, nil) }
        guard let record = try? JSONDecoder().decode(PartialRecord.self, from: bytes) else { throw inTheWay(path) }
        return (false, record)
    }

    mutating func restart(as record: PartialRecord?) throws(NetworkError) {
        isOwn = true
        // In this order an interruption leaves no bytes next to another version's record.
        try checkName()
        try file.truncate(to: 0)
        try file.seek(to: 0)
        (length, self.record) = (0, nil)
        checksum = makeChecksum?()
        try Self.write(record, to: recordFile)
        self.record = record
    }

    /// Writes a record, and returns once the disk has it: after a power loss, a record of 0 bytes would be useless.
    private static func write(_ record: PartialRecord?, to file: SystemFile) throws(NetworkError) {
        try file.truncate(to: 0)
        try file.seek(to: 0)
        try file.write(record.flatMap { try? JSONEncoder().encode($0) } ?? emptyRecord)
        try file.sync()
    }

    /// Resumes after the bytes in the file, which are read if a checksum is wanted.
    mutating func resume(check: () throws(NetworkError) -> Void = {}) throws(NetworkError) {
        isOwn = true
        if let makeChecksum, checksum == nil {
            var sum = makeChecksum()
            try file.seek(to: 0)
            while case let piece = try file.read(), !piece.isEmpty {
                sum.update(piece)
                try check()
            }
            checksum = sum
        }
        try file.seek(to: length)
    }

    mutating func append(_ bytes: Data) throws(NetworkError) {
        do throws(NetworkError) {
            try file.write(bytes)
        } catch {
            // Some bytes may have been written; the length must match the checksum.
            try? file.truncate(to: length)
            throw error
        }
        length += bytes.count
        checksum?.update(bytes)
    }

    mutating func sum() -> String? { checksum?.finish().hexadecimal }

    func finish() throws(NetworkError) {
        // The owner first: the permissions refer to the owner.
        if let replaced { file.setOwner(replaced.owner, replaced.group) }
        if let permissions {
            let inherited = inherits ? try replaced?.permissions(permissions, inGroup: file.status().st_gid) : nil
            try file.setPermissions(inherited ?? permissions)
        }
        try file.sync()
        try checkName()
        try SystemFile.rename(partialPath, to: path)
        // The file is complete, so no later failure counts: a record without bytes is ignored, the disk has what
        // closing could report, and a folder that is writable but not readable can't be synced.
        try? removeRecord()
        try? leave()
        try? syncFolder()
    }

    /// Checks that the partial file's name is still this file's: a user may have deleted the file, and a download to
    /// `NAME.partial` may have renamed its file onto it.
    private func checkName() throws(NetworkError) {
        guard try file.isNamed(partialPath) else {
            throw .file(path, ESTALE, "the partial file was deleted or replaced meanwhile")
        }
    }

    private func removeRecord() throws(NetworkError) {
        if try recordFile.isNamed(recordPath) { try SystemFile.remove(recordPath) }
    }

    private func syncFolder() throws(NetworkError) {
        let path = FilePlace.folder(of: path)
        let folder = try SystemFile(opening: path.isEmpty ? "." : path, O_RDONLY | O_DIRECTORY)
        do throws(NetworkError) {
            try folder.sync()
        } catch {
            try? folder.close()  // Only the first error is reported.
            throw error
        }
        try folder.close()
    }

    func leave() throws(NetworkError) {
        let closed = Result { () throws(NetworkError) in try file.close() }
        try recordFile.close()
        try closed.get()
    }

    /// Ends a download that failed. Bytes that another download left and this one has not touched stay for later.
    func giveUp(isUsable: Bool) throws(NetworkError) {
        let stays = isOwn ? isUsable && length > 0 && record != nil : length > 0
        if stays { try leave() } else { try delete() }
    }

    /// Deletes the file and then its record, so that an interruption leaves no bytes without a record.
    func delete() throws(NetworkError) {
        let partial = Result { () throws(NetworkError) in
            if try file.isNamed(partialPath) { try SystemFile.remove(partialPath) }
        }
        let record = Result { () throws(NetworkError) in try removeRecord() }
        let closed = Result { () throws(NetworkError) in try leave() }
        try partial.get()
        try record.get()
        try closed.get()
    }
}
