import CLibrary
import NetworkCore

/// A file that appears under its name when it is complete, or not at all.
///
/// The bytes go to a temporary file next to it, which then takes its place. What is there already and is not a regular
/// file, `/dev/null` or a pipe, is written directly; see `FilePlace`.
struct OutputFile: ~Copyable {
    /// Where the bytes go, and what they are called in the end.
    private struct Place {
        let path: String
        let temporaryPath: String?
        let descriptor: Descriptor
    }

    private let place: Place
    private var isDone = false

    /// - Throws: ``ToolFailure`` that names the file and the system's reason.
    init(replacing name: String) throws { place = try Self.place(for: name) }

    /// Where a name leads, if that may be written. A file that may not be is refused as curl does it, though the folder
    /// would let another one take its place.
    /// - Throws: ``ToolFailure`` that names the file and the system's reason.
    static func destination(of name: String) throws -> FilePlace {
        let place: FilePlace
        do throws(NetworkError) {
            place = try FilePlace(toWrite: name)
        } catch {
            throw ToolFailure.unwritable(name, SystemFailure(Int32(error.underlying?.code ?? Int(EIO))))
        }
        if case .file(let path, .some) = place {
            do { try Descriptor.checkWritable(path) } catch { throw ToolFailure.unwritable(name, error) }
        }
        return place
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

    private static func draft(of path: String, _ existing: FilePlace.Attributes?) throws(SystemFailure) -> Place {
        let temporary = "\(path).netlayer-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        let mode = existing?.permissions ?? 0o666
        let descriptor = try Descriptor.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        Drafts.add(temporary)
        do throws(SystemFailure) {
            if let existing {
                descriptor.setOwner(existing.owner, existing.group)
                // The umask has its say over the mode of a new file, and must not over one that is replaced.
                try descriptor.setPermissions(mode)
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

    /// Closes the file and gives it its name.
    consuming func finish() throws {
        isDone = true
        do throws(SystemFailure) {
            try place.descriptor.close()
            if let temporary = place.temporaryPath {
                try Descriptor.rename(temporary, to: place.path)
                Drafts.remove(temporary)
            }
        } catch {
            if let temporary = place.temporaryPath { Self.delete(temporary) }
            throw ToolFailure.unwritable(place.path, error)
        }
    }

    deinit {
        if !isDone { Self.discard(place.descriptor, place.temporaryPath) }
    }

    /// The command has failed already and says why; nothing more is lost here.
    private static func discard(_ descriptor: Descriptor, _ temporaryPath: String?) {
        try? descriptor.close()
        if let temporaryPath { delete(temporaryPath) }
    }

    private static func delete(_ temporaryPath: String) {
        Descriptor.remove(temporaryPath)
        Drafts.remove(temporaryPath)
    }
}
