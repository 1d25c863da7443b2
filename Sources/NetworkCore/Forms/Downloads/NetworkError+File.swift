import CLibrary

extension NetworkError {
    /// The error for a file that can't be written.
    static func file(_ path: String, _ failure: SystemFile.Failure) -> NetworkError {
        let isFull = failure.code == ENOSPC || failure.code == EDQUOT
        return file(path, failure, isFull ? .diskFull : .unwritableFile, "can't be written", .receiving)
    }

    /// The error for a file that a download would have to write over, and that no download has left.
    static func inTheWay(_ path: String) -> NetworkError {
        let problem = "is in the way of a download, and no download has left it: it stays as it is"
        return file(path, SystemFile.Failure(code: EEXIST), .unwritableFile, problem, .preparing)
    }

    /// The error for a file that can't be used, its path without control characters.
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
