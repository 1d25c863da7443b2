import CLibrary
import FoundationEssentials

/// An incomplete file: `NAME.partial` next to `NAME`, which it becomes, with `NAME.partial.json` for the version that
/// it is a part of. It is locked, so that two downloads to one path never mix. All methods block.
///
/// The record is there before the partial file and goes after it, even if it says only that nothing can be resumed. A
/// partial file without a record is not a download's, whatever its length; nor is a record that no download writes.
/// Both are left alone. A process that is killed between the two steps of restarting or of cleaning up may leave an
/// empty partial file without a record, which then has to be deleted by hand.
struct PartialFile {
    /// The path of the complete file.
    let path: String
    private let file: SystemFile
    private let permissions: mode_t?
    /// Whether the permissions are those of the file that is replaced.
    private let inherits: Bool
    private let replaced: FilePlace.Attributes?
    /// Whether this download owns the bytes in the file, because it restarted or resumed it.
    private var isOwn = false
    /// The number of bytes in the file.
    private(set) var length: Int
    /// The checksum of the bytes in the file; `nil` if none is wanted, or if it has to be computed again.
    private var checksum: (any Checksum)?
    private let makeChecksum: (@Sendable () -> any Checksum)?

    private var partialPath: String { path + ".partial" }
    private var recordPath: String { path + ".partial.json" }
    /// The limit on a record, in bytes. It holds a URL, which may be long.
    private static let maximumRecordBytes = 1 << 20
    /// The record of bytes that no download can resume. It is no text that a user's file is likely to hold.
    private static let emptyRecord = Data(#"{"validator":null}"#.utf8)

    /// Opens or creates the partial file.
    /// - Parameters:
    ///   - path: The path of the complete file. A symbolic link there is followed, so that its target is replaced.
    ///   - permissions: See ``DownloadedFile/Options/permissions``.
    ///   - checksum: Creates the checksum that is wanted.
    /// - Throws: ``NetworkError/Code/unwritableFile``: the folder is missing, permission is denied, a file that is not
    ///   regular or not a download's is in the way, or another download to the same path is running.
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
        // Only users that may read the whole file may read a part; its owner also writes it. The group of a file
        // that is replaced is set in the next step, and until then the file is its owner's alone.
        let mode = existing == nil ? self.permissions.map { $0 | 0o600 } ?? 0o666 : 0o600
        guard let opened = try Self.open(path, mode: mode) else { throw Self.inTheWay(self.path + ".partial.json") }
        (file, length) = (opened.file, opened.length)
        makeChecksum = checksum
        do {
            try takeOver()
        } catch {
            // Only the first error is reported.
            if opened.isNew { try? delete() } else { try? file.close() }
            throw error
        }
    }

    /// Checks that the existing file is a download's, and sets its permissions.
    private func takeOver() throws(NetworkError) {
        switch try kept() {
        case .none: throw Self.inTheWay(partialPath)
        case .other: throw Self.inTheWay(recordPath)
        case .empty, .full: break
        }
        // An earlier download with other permissions may have left it.
        guard let permissions else { return }
        try file.setPermissions(try fitting(permissions) | 0o600)
    }

    /// Returns the error for a file that a download would overwrite but that no download left there.
    private static func inTheWay(_ path: String) -> NetworkError {
        let problem = "is in the way of a download, but no download left it there; it is unchanged"
        return .file(path, EEXIST, .unwritableFile, problem, .preparing)
    }

    /// Gives the file the group of the one that it replaces, and returns the permissions that it may have in its group.
    private func fitting(_ permissions: mode_t) throws(NetworkError) -> mode_t {
        guard let replaced else { return permissions }
        return replaced.permissions(permissions, inGroup: try file.setGroup(replaced.group))
    }

    /// Refuses a name that leaves no room for the longer names, one of which may fit and the other not.
    private static func checkRoom(behind path: String) throws(NetworkError) {
        let length = path.utf8.count + ".partial.json".utf8.count
        guard length - FilePlace.folder(of: path).utf8.count <= Int(NAME_MAX), length < Int(PATH_MAX) else {
            throw .file(path, ENAMETOOLONG)
        }
    }

    /// Opens and locks the partial file. If there is none, its record is made first.
    /// - Parameter path: The path of the complete file.
    /// - Returns: The file, its length, and whether it was made here; `nil` if a record that no download has left is in
    ///   the way.
    private static func open(
        _ path: String, mode: mode_t
    ) throws(NetworkError) -> (file: SystemFile, length: Int, isNew: Bool)? {
        let (partial, record) = (path + ".partial", path + ".partial.json")
        while true {
            if let (file, length) = try locked(partial, mode: mode) { return (file, length, false) }
            var hasMadeRecord = false
            switch try keptRecord(at: record) {
            case .other: return nil
            case .empty, .full: break
            case .none:
                hasMadeRecord = try write(nil, to: record)
                // Another download begins.
                if !hasMadeRecord { continue }
            }
            do throws(NetworkError) {
                let made = try locked(partial, O_CREAT | O_EXCL, mode: mode)
                if let (file, length) = made {
                    do throws(NetworkError) {
                        // A download that has just ended may have removed it.
                        if case .none = try keptRecord(at: record) { hasMadeRecord = try write(nil, to: record) }
                    } catch {
                        // Only the first error is reported. Left open, the file would stay locked.
                        try? SystemFile.remove(partial)
                        try? file.close()
                        throw error
                    }
                    return (file, length, true)
                }
            } catch {
                // Only the first error is reported. A busy file is another download's, and now the record is too.
                if hasMadeRecord, error.errno != EBUSY { try? SystemFile.remove(record) }
                throw error
            }
        }
    }

    /// Opens and locks a partial file.
    /// - Returns: `nil` if there is none, or with `O_EXCL` if there is one; also if it is no longer the one that was
    ///   opened.
    private static func locked(
        _ path: String, _ flags: Int32 = 0, mode: mode_t
    ) throws(NetworkError) -> (SystemFile, Int)? {
        let file: SystemFile
        do throws(NetworkError) {
            file = try SystemFile(opening: path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | flags, mode: mode)
        } catch {
            if error.errno == (flags & O_EXCL == 0 ? ENOENT : EEXIST) { return nil }
            throw error
        }
        do throws(NetworkError) {
            let status = try file.status()
            // In a folder that others may write to, another user may have put the file there.
            guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == SystemFile.ownUser else {
                throw .file(path, EEXIST)
            }
            guard try file.lock() else { throw .file(path, EBUSY) }
            // Between opening and locking, the download that held the lock may have renamed the file.
            if try file.isNamed(path) {
                // Read again: the file may have grown until the lock was free.
                return (file, Int(try file.status().st_size))
            }
        } catch {
            try? file.close()  // Only the first error is reported.
            throw error
        }
        try file.close()
        return nil
    }

    /// Returns the record of the bytes in the file; `nil` if there is none that can be used.
    func record() throws(NetworkError) -> PartialRecord? {
        guard case .full(let record) = try kept() else { return nil }
        return record
    }

    /// Whether a later download may find a record. One that can't be read now may be read then.
    private var mayHaveRecord: Bool {
        do { return try record() != nil } catch { return true }
    }

    private func kept() throws(NetworkError) -> KeptRecord {
        try Self.keptRecord(at: recordPath)
    }

    private enum KeptRecord {
        case none
        /// The record of bytes that no download can resume.
        case empty
        case full(PartialRecord)
        /// A file that no download left there.
        case other
    }

    /// Returns the state of a record.
    /// - Throws: A failure that says nothing of the file, such as a want of descriptors.
    private static func keptRecord(at path: String) throws(NetworkError) -> KeptRecord {
        do throws(NetworkError) {
            let record = try SystemFile(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            defer { try? record.close() }  // Nothing was written.
            let status = try record.status()
            guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == SystemFile.ownUser,
                status.st_size <= maximumRecordBytes
            else { return .other }
            let bytes = try record.read(upTo: maximumRecordBytes)
            if bytes == emptyRecord { return .empty }
            guard let kept = try? JSONDecoder().decode(PartialRecord.self, from: bytes) else { return .other }
            return .full(kept)
        } catch {
            switch error.errno {
            case ENOENT: return .none
            // A link, a pipe, a folder, or a file of another user's.
            case ELOOP, ENXIO, EISDIR, EACCES, EPERM: return .other
            default: throw error
            }
        }
    }

    /// Restarts the file at offset 0.
    /// - Parameter record: The version of the bytes that follow; `nil` if no download could resume them.
    mutating func restart(as record: PartialRecord?) throws(NetworkError) {
        isOwn = true
        // In this order an interruption leaves no bytes next to another version's record, and none without a record.
        try checkName()
        try file.truncate(to: 0)
        try file.seek(to: 0)
        length = 0
        checksum = makeChecksum?()
        try SystemFile.remove(recordPath)
        guard try Self.write(record, to: recordPath) else { throw .file(path, EEXIST) }
    }

    /// Writes a record, and returns once the disk has it: after a power loss, a record of 0 bytes would be useless.
    /// - Returns: Whether there was none before, so that it is written.
    private static func write(_ record: PartialRecord?, to path: String) throws(NetworkError) -> Bool {
        let bytes = record.flatMap { try? JSONEncoder().encode($0) } ?? emptyRecord
        // A record without bytes, left by a process that was killed here, would be no download's.
        if let isNew = try SystemFile.make(path, in: FilePlace.folder(of: path), of: bytes, mode: 0o600) {
            return isNew
        }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        let file: SystemFile
        do throws(NetworkError) {
            file = try SystemFile(opening: path, flags, mode: 0o600)
        } catch {
            if error.errno == EEXIST { return false }
            throw error
        }
        do throws(NetworkError) {
            try file.write(bytes)
            try file.sync()
        } catch {
            // Only the first error is reported. A part of a record would be useless.
            try? file.close()
            try? SystemFile.remove(path)
            throw error
        }
        try file.close()
        return true
    }

    /// Resumes after the bytes in the file, which are read if a checksum is wanted.
    /// - Parameter check: Throws when the time is over; called after each piece.
    mutating func resume(check: () throws(NetworkError) -> Void = {}) throws(NetworkError) {
        isOwn = true
        if let makeChecksum, checksum == nil {
            var sum = makeChecksum()
            var offset = 0
            while case let piece = try piece(at: offset), !piece.isEmpty {
                sum.update(piece)
                offset += piece.count
                try check()
            }
            checksum = sum
        }
        try file.seek(to: length)
    }

    /// Marks the bytes in the file as this download's own, after the server has said that the file is complete.
    mutating func claim() { isOwn = true }

    private func piece(at offset: Int) throws(NetworkError) -> Data {
        try file.seek(to: offset)
        return try file.read()
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

    /// Returns the checksum of all bytes in hexadecimal digits; `nil` if none was wanted.
    mutating func sum() -> String? { checksum?.finish().hexadecimal }

    /// Renames the file once the disk has all of it.
    /// - Parameter named: Called after the renaming, when another download to the same path may begin.
    func finish(named: () throws(NetworkError) -> Void = {}) throws(NetworkError) {
        // The owner first: the permissions refer to the owner.
        if let replaced { file.setOwner(replaced.owner, replaced.group) }
        if let permissions { try file.setPermissions(inherits ? try fitting(permissions) : permissions) }
        try file.sync()
        try checkName()
        try SystemFile.rename(partialPath, to: path)
        try named()
        // The file is complete, so no later failure counts: a record without bytes is ignored, the disk has what
        // closing could report, and a folder that is writable but not readable can't be synced.
        try? removeRecord()
        try? file.close()
        try? syncFolder()
    }

    /// Checks that the partial file's name is still this file's. A user may have deleted the file, so that another
    /// download has made one, and a download to `NAME.partial` may have renamed its file onto it.
    private func checkName() throws(NetworkError) {
        guard try file.isNamed(partialPath) else {
            throw .file(path, ESTALE, "the partial file was deleted or replaced meanwhile")
        }
    }

    /// Removes the record when the partial file is gone, unless another download has begun since: the record then
    /// belongs to that download, or soon will. A download that begins during this check is refused as before.
    private func removeRecord() throws(NetworkError) {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
        let place: SystemFile
        do throws(NetworkError) {
            place = try SystemFile(opening: partialPath, flags, mode: 0o600)
        } catch {
            if error.errno == EEXIST { return }
            throw error
        }
        defer { try? place.close() }  // Nothing was written.
        guard try place.lock() else { return }
        let record = Result { () throws(NetworkError) in try SystemFile.remove(recordPath) }
        try SystemFile.remove(partialPath)
        try record.get()
    }

    /// Returns once the disk has the file's name too.
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

    /// Leaves the file for a later download.
    func leave() throws(NetworkError) { try file.close() }

    /// Ends a download that failed. Bytes that another download left and this one has not touched stay for later.
    /// - Parameter isUsable: Whether a later download may resume the bytes that this one has written.
    func giveUp(isUsable: Bool) throws(NetworkError) {
        let stays = isOwn ? isUsable && length > 0 && mayHaveRecord : length > 0
        if stays { try leave() } else { try delete() }
    }

    /// Deletes the file and then its record, so that an interruption leaves no bytes without a record. A file that has
    /// taken the name meanwhile stays.
    func delete() throws(NetworkError) {
        let partial = Result { () throws(NetworkError) in
            if try file.isNamed(partialPath) { try SystemFile.remove(partialPath) }
        }
        let record = Result { () throws(NetworkError) in try removeRecord() }
        let closed = Result { () throws(NetworkError) in try file.close() }
        try partial.get()
        try record.get()
        try closed.get()
    }
}
