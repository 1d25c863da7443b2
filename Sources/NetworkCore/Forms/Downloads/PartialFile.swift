import CLibrary
import FoundationEssentials

/// A file that is not whole yet: `NAME.partial` beside `NAME`, which it becomes, with `NAME.partial.json` for what it
/// is a part of. Locked, so that two downloads to one place never mix. All of it blocks.
///
/// Bytes never lie there without a record, be it one that says nothing: what has none is not a download's, and stays
/// as it is.
struct PartialFile {
    /// Where it will be.
    let path: String
    private let file: SystemFile
    private let permissions: mode_t?
    private let replaced: FilePlace.Attributes?
    /// Whether this download has made the bytes that are here its own: begun anew, or gone on behind them.
    private var isOwn = false
    /// The bytes that are here.
    private(set) var length: Int
    /// The sum of the bytes that are here; `nil` if none is wanted, or it has to be made anew.
    private var checksum: (any Checksum)?
    private let makeChecksum: (@Sendable () -> any Checksum)?

    private var partialPath: String { path + ".partial" }
    private var recordPath: String { path + ".partial.json" }
    /// The largest record that is read, in bytes: it has a URL in it, and URLs may be long.
    private static let maximumRecordBytes = 1 << 20
    /// The record of bytes that no download can go on with.
    private static let emptyRecord = Data("{}".utf8)

    /// Opens or makes the partial file.
    /// - Parameters:
    ///   - path: Where the file will be. A symbolic link there is followed, so that its target is replaced.
    ///   - permissions: See ``DownloadedFile/Options/permissions``.
    ///   - checksum: Makes the checksum that is wanted.
    /// - Throws: ``NetworkError/Code/unwritableFile``: no such folder, no right, something that is not a file or no
    ///   download's in the way, another download to the same place.
    init(
        for path: String,
        permissions: UInt16? = nil,
        checksum: (@Sendable () -> any Checksum)? = nil
    ) throws(NetworkError) {
        do throws(SystemFile.Failure) {
            guard case .file(let path, let existing) = try FilePlace.find(path) else {
                throw SystemFile.Failure(code: EEXIST)
            }
            try Self.checkRoom(behind: path)
            self.path = path
            replaced = existing
            self.permissions = permissions.map { mode_t($0) } ?? existing?.permissions
            (file, length) = try Self.open(self.path + ".partial", self.permissions)
        } catch {
            throw .file(path, error)
        }
        makeChecksum = checksum
        do {
            try takeOver()
        } catch {
            // What was made here is empty. The error that counts is the first one.
            if length == 0 { try? SystemFile.remove(partialPath) }
            try? file.close()
            throw error
        }
    }

    /// Makes sure that what lies here is a download's, and gives it its permissions.
    private func takeOver() throws(NetworkError) {
        switch keptRecord() {
        case .none where length > 0: throw .inTheWay(partialPath)
        case .other: throw .inTheWay(recordPath)
        case .none, .empty, .full: break
        }
        // It may have been left by a download that was to have other permissions.
        guard let permissions else { return }
        do throws(SystemFile.Failure) {
            try file.setPermissions(permissions | 0o600)
        } catch {
            throw .file(path, error)
        }
    }

    /// Refuses a name that leaves no room for the longer ones, of which one may fit and the other not.
    private static func checkRoom(behind path: String) throws(SystemFile.Failure) {
        let length = path.utf8.count + ".partial.json".utf8.count
        guard length - FilePlace.folder(of: path).utf8.count <= Int(NAME_MAX), length < Int(PATH_MAX) else {
            throw SystemFile.Failure(code: ENAMETOOLONG)
        }
    }

    private static func open(_ path: String, _ permissions: mode_t?) throws(SystemFile.Failure) -> (SystemFile, Int) {
        // A part is readable to those alone who may read the whole file; its owner goes on with it.
        let mode = permissions.map { $0 | 0o600 }
        while true {
            let file = try SystemFile(opening: path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: mode ?? 0o666)
            do throws(SystemFile.Failure) {
                let status = try file.status()
                // In a folder that others may write to, somebody may have laid it there.
                guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == SystemFile.ownUser else {
                    throw SystemFile.Failure(code: EEXIST)
                }
                guard try file.lock() else { throw SystemFile.Failure(code: EBUSY) }
                // Between opening and locking, the download that held it may have given it its name.
                let named = try SystemFile.status(of: path)
                if named?.st_ino == status.st_ino, named?.st_dev == status.st_dev {
                    // Read again: it may have grown until the lock was free.
                    return (file, Int(try file.status().st_size))
                }
                try file.close()
            } catch {
                try? file.close()  // The error that counts is the first one.
                throw error
            }
        }
    }

    /// What the bytes that are here are a part of; `nil` if that is not known.
    func record() -> PartialRecord? {
        guard case .full(let record) = keptRecord() else { return nil }
        return record
    }

    /// What lies in the record's place.
    private enum KeptRecord {
        case none
        /// That of bytes that no download can go on with. Without a byte, it is that of a machine that lost its power.
        case empty
        case full(PartialRecord)
        /// Something that no download has left.
        case other
    }

    private func keptRecord() -> KeptRecord {
        do throws(SystemFile.Failure) {
            let record = try SystemFile(opening: recordPath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            defer { try? record.close() }  // Nothing was written.
            let status = try record.status()
            guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == SystemFile.ownUser,
                status.st_size <= Self.maximumRecordBytes
            else { return .other }
            let bytes = try record.read(upTo: Self.maximumRecordBytes)
            if bytes.isEmpty || bytes == Self.emptyRecord { return .empty }
            guard let kept = try? JSONDecoder().decode(PartialRecord.self, from: bytes) else { return .other }
            return .full(kept)
        } catch {
            return error.code == ENOENT ? .none : .other
        }
    }

    /// Begins at 0.
    /// - Parameter record: What the bytes to come are a part of; `nil` if nobody could go on with them.
    mutating func restart(as record: PartialRecord?) throws(NetworkError) {
        isOwn = true
        do throws(SystemFile.Failure) {
            // In this order an interruption leaves no bytes next to the record of others, and none without a record.
            try file.truncate(to: 0)
            try file.seek(to: 0)
            length = 0
            checksum = makeChecksum?()
            try SystemFile.remove(recordPath)
            try write(record)
        } catch {
            throw .file(path, error)
        }
    }

    private func write(_ record: PartialRecord?) throws(SystemFile.Failure) {
        let bytes = record.flatMap { try? JSONEncoder().encode($0) } ?? Self.emptyRecord
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        let file = try SystemFile(opening: recordPath, flags, mode: 0o600)
        do throws(SystemFile.Failure) {
            try file.write(bytes)
        } catch {
            try? file.close()  // The error that counts is the first one.
            throw error
        }
        try file.close()
    }

    /// Goes on behind the bytes that are here, which are read if they are to be summed up.
    /// - Parameter check: Throws when there is no time for that; asked after each piece.
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
        do throws(SystemFile.Failure) {
            try file.seek(to: length)
        } catch {
            throw .file(path, error)
        }
    }

    /// Takes the bytes that are here for this download's: the server has said that they are all.
    mutating func claim() { isOwn = true }

    private func piece(at offset: Int) throws(NetworkError) -> Data {
        do throws(SystemFile.Failure) {
            try file.seek(to: offset)
            return try file.read()
        } catch {
            throw .file(path, error)
        }
    }

    mutating func append(_ bytes: Data) throws(NetworkError) {
        do throws(SystemFile.Failure) {
            try file.write(bytes)
        } catch {
            // Some of it may be there. What is counted is what the sum knows.
            try? file.truncate(to: length)
            throw .file(path, error)
        }
        length += bytes.count
        checksum?.update(bytes)
    }

    /// The sum of all bytes in hexadecimal digits; `nil` if none was wanted.
    mutating func sum() -> String? {
        checksum?.finish().reduce(into: "") { text, byte in
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }

    /// Gives it its name, when the disk has all of it.
    /// - Parameter named: Called when it has it, and another download to the same place may begin.
    func finish(named: () throws(NetworkError) -> Void = {}) throws(NetworkError) {
        do throws(SystemFile.Failure) {
            // The owner first: it is by this that the permissions let others in.
            if let replaced { file.setOwner(replaced.owner, replaced.group) }
            if let permissions { try file.setPermissions(permissions) }
            try file.sync()
            try SystemFile.rename(partialPath, to: path)
        } catch {
            throw .file(path, error)
        }
        try named()
        // The file is there and whole, so nothing below makes it a failure: a record without bytes counts for nothing,
        // the disk has what closing could complain of, and a folder that may be written to but not read can't be
        // synced.
        try? removeRecord()
        try? file.close()
        try? syncFolder()
    }

    /// Takes the record away when the partial file has gone, unless another download has begun since: the record is
    /// that one's then, or soon will be. While this looks, another one is refused as it was before.
    private func removeRecord() throws(SystemFile.Failure) {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
        let place: SystemFile
        do throws(SystemFile.Failure) {
            place = try SystemFile(opening: partialPath, flags, mode: 0o600)
        } catch {
            if error.code == EEXIST { return }
            throw error
        }
        defer { try? place.close() }  // Nothing was written.
        guard try place.lock() else { return }
        let record = Result { () throws(SystemFile.Failure) in try SystemFile.remove(recordPath) }
        try SystemFile.remove(partialPath)
        try record.get()
    }

    /// Returns when the disk has the file's name too.
    private func syncFolder() throws(SystemFile.Failure) {
        let path = FilePlace.folder(of: path)
        let folder = try SystemFile(opening: path.isEmpty ? "." : path, O_RDONLY | O_DIRECTORY)
        do throws(SystemFile.Failure) {
            try folder.sync()
        } catch {
            try? folder.close()  // The error that counts is the first one.
            throw error
        }
        try folder.close()
    }

    /// Leaves it for another time.
    func leave() throws(NetworkError) {
        do { try file.close() } catch { throw .file(path, error) }
    }

    /// Ends a download that failed. What others have left and this one has not touched stays for them.
    /// - Parameter isUsable: Whether a later download may go on with what this one has written.
    func giveUp(isUsable: Bool) throws(NetworkError) {
        let stays = isOwn ? isUsable && length > 0 && record() != nil : length > 0
        if stays { try leave() } else { try delete() }
    }

    /// Deletes it and then its record, so that an interruption leaves no bytes without one.
    func delete() throws(NetworkError) {
        let partial = Result { () throws(SystemFile.Failure) in try SystemFile.remove(partialPath) }
        let record = Result { () throws(SystemFile.Failure) in try removeRecord() }
        let closed = Result { () throws(SystemFile.Failure) in try file.close() }
        do throws(SystemFile.Failure) {
            try partial.get()
            try record.get()
            try closed.get()
        } catch {
            throw .file(path, error)
        }
    }
}
