import CLibrary
import Foundation

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
        let known = Descriptor.mode(of: name)
        if let known, known & S_IFMT != S_IFREG {
            let descriptor = try open(name, O_WRONLY, 0, for: name)
            return Place(path: name, temporaryPath: nil, descriptor: descriptor)
        }
        let mode = known.map { $0 & 0o777 } ?? 0o666
        let path = known != nil ? resolvingLinks(name) : name
        let temporary = "\(path).netlayer-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        let descriptor = try open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode, for: name)
        // The umask has its say over the mode of a new file, and must not over one that is replaced.
        do throws(SystemFailure) {
            if known != nil { try descriptor.setPermissions(mode) }
        } catch {
            discard(descriptor, temporary)
            throw ToolFailure.unwritable(name, error)
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
            if let temporary = place.temporaryPath { try Descriptor.rename(temporary, to: place.path) }
        } catch {
            if let temporary = place.temporaryPath { Descriptor.remove(temporary) }
            throw ToolFailure.unwritable(place.path, error)
        }
    }

    deinit {
        if !isDone { Self.discard(place.descriptor, place.temporaryPath) }
    }

    /// The command has failed already and says why; nothing more is lost here.
    private static func discard(_ descriptor: Descriptor, _ temporaryPath: String?) {
        try? descriptor.close()
        if let temporaryPath { Descriptor.remove(temporaryPath) }
    }

    private static func open(_ path: String, _ flags: Int32, _ mode: mode_t, for name: String) throws -> Descriptor {
        do { return try Descriptor.open(path, flags, mode: mode) } catch { throw ToolFailure.unwritable(name, error) }
    }

    /// The file that a chain of symbolic links ends at, so that it is replaced and not the link.
    private static func resolvingLinks(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }
}
