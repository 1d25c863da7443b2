import CLibrary

/// Host names with characters outside ASCII, converted by UTS 46 as libcurl does it: with libidn2, which usually comes
/// with libcurl (https://www.gnu.org/software/libidn/libidn2/manual). It is loaded at run time, because not every
/// libcurl comes with it.
enum InternationalName {
    @safe struct Library: Sendable {
        fileprivate typealias Lookup =
            @convention(c) (
                UnsafePointer<CChar>?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, CInt
            ) -> CInt
        fileprivate typealias Free = @convention(c) (UnsafeMutableRawPointer?) -> Void

        fileprivate let lookup: Lookup
        fileprivate let free: Free

        init?() {
            // Never closed: the functions are used for the lifetime of the process.
            guard let library = unsafe dlopen(Self.name, RTLD_NOW),
                let lookup = unsafe dlsym(library, "idn2_lookup_u8"),
                let free = unsafe dlsym(library, "idn2_free")
            else { return nil }
            unsafe self.lookup = unsafeBitCast(lookup, to: Lookup.self)
            unsafe self.free = unsafeBitCast(free, to: Free.self)
        }

        private static let name = "libidn2.so.0"
    }

    static let library = Library()
    /// IDN2_NFC_INPUT and IDN2_NONTRANSITIONAL; IDN2_TRANSITIONAL.
    private static let (nontransitional, transitional) = (CInt(1 | 8), CInt(4))
    /// IDN2_OK and IDN2_DISALLOWED.
    private static let (success, disallowed) = (CInt(0), CInt(-304))
    /// 253 characters of four bytes each. No longer name can be valid, and the limit restricts the time for
    /// normalization.
    private static let maximumBytes = 1012

    /// Returns the name in ASCII, with `xn--` labels. The result can be any text; the caller must check it.
    static func ascii(_ name: ArraySlice<UInt8>, by library: Library? = library) throws -> String {
        guard let library else {
            throw NetworkError.unusableURL(
                "the host is not ASCII, and libidn2 was not found; write its xn-- (IDNA) form")
        }
        guard name.count <= maximumBytes else {
            throw NetworkError.unusableURL("the host is longer than 253 characters")
        }
        let text = name.map { CChar(bitPattern: $0) } + [0]
        var output: UnsafeMutablePointer<CChar>?
        defer { unsafe library.free(output) }
        var result = unsafe library.lookup(text, &output, nontransitional)
        if result == disallowed { result = unsafe library.lookup(text, &output, transitional) }
        guard result == success, let output = unsafe output else {
            throw NetworkError.unusableURL("the host is not an international name (UTS 46): \(reason(result))")
        }
        return unsafe String(cString: output)
    }

    private static func reason(_ result: CInt) -> String {
        switch result {
        case -203, -206: "a label is too long"
        case -204, -205: "it is too long"
        case -202, -207, -208, -314: "a label is not the encoding of a name"
        case -301, -302: "a label has hyphens where none are allowed"
        case -303: "a label begins with a combining character"
        case -304, -309: "it has a character that no name may have"
        case -305, -306, -307, -308: "it has a character that is not allowed in its position"
        case -310: "a label mixes directions of writing"
        default: "libidn2 says \(result)"
        }
    }
}
