import Foundation

/// A file that appears under its name only when it is complete.
///
/// The bytes go to a temporary file in the same folder, which then replaces the file. An existing file that is not a
/// regular one, such as `/dev/null` or a pipe, is written directly; see `FilePlace`.
struct OutputFile: ~Copyable {
    /// The destination of the bytes, and the final path.
    private struct Place {
        let path: String
        let temporaryPath: String?
        let descriptor: Descriptor
    }

    private let place: Place
    private var isDone = false

    init(replacing name: String) throws { place = try Self.place(for: name) }

    /// Returns the place that a name leads to, if it may be written. A file without write permission is refused, as in
    /// curl, although the permissions of the folder would let another file replace it.
    static func destination(of name: String) throws -> FilePlace {
        do throws(SystemFailure) {
            let place = try FilePlace(toWrite: name)
            if case .file(let path, .some) = place { try Descriptor.checkWritable(path) }
            return place
        } catch {
            throw ToolFailure.unwritable(name, error)
        }
    }

    private static func place(for name: String) throws -> Place {
        let place = try destination(of: name)
        do throws(SystemFailure) {
            switch place {
            case .file(let path, let existing): return try draft(of: path, existing)
            case .special:
                return Place(path: name, temporaryPath: nil, descriptor: try Descriptor.open(name, O_WRONLY))
            case .open(let number):
                return Place(path: name, temporaryPath: nil, descriptor: try Descriptor.duplicate(number))
            }
        } catch {
            throw ToolFailure.unwritable(name, error)
        }
    }

    private static func draft(of path: String, _ existing: stat?) throws(SystemFailure) -> Place {
        // In the same folder, with a name that no file's name makes too long.
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
        let temporary = "\(folder).netlayer-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        // The file that replaces another one is its owner's alone until it has its group.
        let mode: mode_t = existing == nil ? 0o666 : 0o600
        // Before the file exists: a process that ends in between deletes it too.
        Drafts.add(temporary)
        let descriptor: Descriptor
        do throws(SystemFailure) {
            descriptor = try Descriptor.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        } catch {
            Drafts.remove(temporary)
            throw error
        }
        do throws(SystemFailure) {
            if let existing {
                descriptor.setOwner(existing.st_uid, existing.st_gid)
                // Members of another group are others to this file.
                let isSameGroup = try descriptor.group() == existing.st_gid
                let mode = existing.st_mode & 0o777
                try descriptor.setPermissions(isSameGroup ? mode : mode & (0o707 | mode << 3))
            }
        } catch {
            discard(descriptor, temporary)
            throw error
        }
        return Place(path: path, temporaryPath: temporary, descriptor: descriptor)
    }

    borrowing func write(_ bytes: some Sequence<UInt8>) throws {
        do {
            try place.descriptor.write(bytes)
        } catch {
            throw ToolFailure.unwritable(place.path, error)
        }
    }

    /// Closes the file and gives it its final name.
    consuming func finish() throws {
        isDone = true
        do throws(SystemFailure) {
            try place.descriptor.close()
            if let temporary = place.temporaryPath {
                try Descriptor.rename(temporary, to: place.path)
                Drafts.remove(temporary)
            }
        } catch {
            place.temporaryPath.map(Drafts.delete)
            throw ToolFailure.unwritable(place.path, error)
        }
    }

    deinit {
        if !isDone { Self.discard(place.descriptor, place.temporaryPath) }
    }

    /// Closes and deletes an incomplete file. Errors are ignored, because the command has already failed with its own.
    private static func discard(_ descriptor: Descriptor, _ temporaryPath: String?) {
        try? descriptor.close()
        temporaryPath.map(Drafts.delete)
    }
}

/// The files that are not complete yet, to be deleted when the process ends without waiting.
enum Drafts {
    private static let paths = Guarded<Set<String>>([])

    static func add(_ path: String) { paths.withLock { _ = $0.insert(path) } }

    /// Removes a file from the list, once it has its final name or is deleted.
    static func remove(_ path: String) { paths.withLock { _ = $0.remove(path) } }

    static func delete(_ path: String) {
        Descriptor.remove(path)
        remove(path)
    }

    static func deleteAll() { paths.withLock { $0.forEach(Descriptor.remove) } }
}
