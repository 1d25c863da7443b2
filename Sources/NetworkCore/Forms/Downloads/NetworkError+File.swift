import CLibrary

extension NetworkError {
    /// Returns the error for a file that can't be written.
    static func file(_ path: String, _ failure: SystemFile.Failure) -> NetworkError {
        let isFull = failure.code == ENOSPC || failure.code == EDQUOT
        return file(path, failure, isFull ? .diskFull : .unwritableFile, "can't be written", .receiving)
    }

    /// Returns the error for a file that a download would overwrite but that no download left there.
    static func inTheWay(_ path: String) -> NetworkError {
        let problem = "is in the way of a download, but no download left it there; it is unchanged"
        return file(path, SystemFile.Failure(code: EEXIST), .unwritableFile, problem, .preparing)
    }

    /// Returns the error for a file that can't be used, with its path without control characters.
    static func file(
        _ path: String,
        _ failure: SystemFile.Failure,
        _ code: Code,
        _ problem: String,
        _ phase: Phase
    ) -> NetworkError {
        NetworkError(
            code,
            "the file '\(Excerpt.shown(path))' \(problem)",
            phase: phase,
            underlying: Underlying(domain: "errno", code: Int(failure.code), message: failure.message)
        )
    }
}
