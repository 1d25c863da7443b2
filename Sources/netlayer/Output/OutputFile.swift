import Foundation

import CLibrary

/// A file that appears under its name when it is complete, or not at all.
///
/// The bytes go to a temporary file beside it, which then takes its place. What is there already and is not a regular
/// file, `/dev/null` or a pipe, is written directly.
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

    private static func place(for name: String) throws -> Place {
        var status = stat()
        let exists = stat(name, &status) == 0
        if exists, status.st_mode & S_IFMT != S_IFREG {
            let descriptor = try open(name, O_WRONLY | O_CLOEXEC, 0, for: name)
            return Place(path: name, temporaryPath: nil, descriptor: descriptor)
        }
        let mode = exists ? status.st_mode & 0o777 : 0o666
        let path = exists ? resolvingLinks(name) : name
        let temporary = "\(path).netlayer-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        let descriptor = try open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode, for: name)
        // The umask has its say over the mode of a new file, and must not over one that is replaced.
        if exists, fchmod(descriptor.number, mode) != 0 {
            let failure = SystemFailure(errno)
            discard(descriptor, temporary)
            throw ToolFailure.unwritable(name, failure)
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
            if let temporary = place.temporaryPath, rename(temporary, place.path) != 0 { throw SystemFailure(errno) }
        } catch {
            if let temporary = place.temporaryPath { unlink(temporary) }
            throw ToolFailure.unwritable(place.path, error)
        }
    }

    deinit {
        if !isDone { Self.discard(place.descriptor, place.temporaryPath) }
    }

    /// The command has failed already and says why; nothing more is lost here.
    private static func discard(_ descriptor: Descriptor, _ temporaryPath: String?) {
        try? descriptor.close()
        if let temporaryPath { unlink(temporaryPath) }
    }

    private static func open(_ path: String, _ flags: Int32, _ mode: mode_t, for name: String) throws -> Descriptor {
        let number = systemOpen(path, flags, mode)
        guard number >= 0 else { throw ToolFailure.unwritable(name, SystemFailure(errno)) }
        return Descriptor(number: number)
    }

    /// The file that a chain of symbolic links ends at, so that it is replaced and not the link.
    private static func resolvingLinks(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }
}

// The method above hides the system's name.
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
