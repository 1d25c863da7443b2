import Testing

@testable import CurlTransport

@Suite struct EasyPoolTests {
    /// libcurl may keep such a buffer, and after a reset it would write more into it than it holds.
    @Test(arguments: [(LibcurlSupport.defaultBuffer, true), (LibcurlSupport.largeBuffer, true), (1024, false)])
    func aHandleWithASmallBufferServesNoOther(bytes: Int, isUsedAgain: Bool) throws {
        let pool = EasyPool()
        let easy = try pool.take()
        easy.wishReceiveBuffer(bytes)
        pool.give(easy)
        #expect((try pool.take() === easy) == isUsedAgain)
    }
}
