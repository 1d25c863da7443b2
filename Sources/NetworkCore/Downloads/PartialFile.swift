import CLibrary
import FoundationEssentials

/// A file that is not whole yet: `NAME.partial` beside `NAME`, which it becomes, with `NAME.partial.json` for what it
/// is a part of. Locked, so that two downloads to one place never mix. All of it blocks.
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
    /// The largest record that is read, in bytes.
    private static let maximumRecordBytes = 65_536

    /// Opens or makes the partial file.
    /// - Parameters:
    ///   - path: Where the file will be. A symbolic link there is followed, so that its target is replaced.
    ///   - permissions: See ``DownloadOptions/permissions``.
    ///   - checksum: Makes the checksum that is wanted.
    /// - Throws: ``NetworkError/Code/unwritableFile``: no such folder, no right, something that is not a file in the
    ///   way, another download to the same place.
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
                    // It may have been left by a download that was to have other permissions.
                    if let mode { try file.setPermissions(mode) }
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

    /// What the bytes that are here are a part of; `nil` if that is not known. A record that can't be read is none.
    func record() -> PartialRecord? {
        guard let record = try? SystemFile(opening: recordPath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { return nil }
        defer { try? record.close() }  // Nothing was written.
        guard let status = try? record.status(), status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == SystemFile.ownUser, status.st_size <= Self.maximumRecordBytes,
            let bytes = try? record.read()
        else { return nil }
        return try? JSONDecoder().decode(PartialRecord.self, from: bytes)
    }

    /// Begins at 0.
    /// - Parameter record: What the bytes to come are a part of; `nil` if nobody could go on with them.
    mutating func restart(as record: PartialRecord?) throws(NetworkError) {
        isOwn = true
        do throws(SystemFile.Failure) {
            // In this order an interruption leaves no bytes beside the record of others.
            try SystemFile.remove(recordPath)
            try file.truncate(to: 0)
            try file.seek(to: 0)
            length = 0
            checksum = makeChecksum?()
            if let record { try write(record) }
        } catch {
            throw .file(path, error)
        }
    }

    private func write(_ record: PartialRecord) throws(SystemFile.Failure) {
        guard let bytes = try? JSONEncoder().encode(record) else { return }
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
    func finish() throws(NetworkError) {
        do throws(SystemFile.Failure) {
            // The owner first: it is by this that the permissions let others in.
            if let replaced { file.setOwner(replaced.owner, replaced.group) }
            if let permissions { try file.setPermissions(permissions) }
            try file.sync()
            try SystemFile.rename(partialPath, to: path)
        } catch {
            throw .file(path, error)
        }
        // The file is there and whole, so nothing below makes it a failure: a record without bytes counts for nothing,
        // the disk has what closing could complain of, and a folder that may be written to but not read can't be
        // synced.
        try? SystemFile.remove(recordPath)
        try? file.close()
        try? syncFolder()
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

    /// Deletes it and its record, each also when the other can't be.
    func delete() throws(NetworkError) {
        let record = Result { () throws(SystemFile.Failure) in try SystemFile.remove(recordPath) }
        let partial = Result { () throws(SystemFile.Failure) in try SystemFile.remove(partialPath) }
        let closed = Result { () throws(SystemFile.Failure) in try file.close() }
        do throws(SystemFile.Failure) {
            try record.get()
            try partial.get()
            try closed.get()
        } catch {
            throw .file(path, error)
        }
    }
}
