// The entry points for libFuzzer that run whole scenarios: scripts/fuzz whole.

import CLibrary

/// The entry point of the program, with the name that the package manager links as `main`, in place of libFuzzer's own.
@_cdecl("fuzzwhole_main")
public func fuzzMain(
    _ count: CInt,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments, fuzzOneInput)
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

@_silgen_name("LLVMFuzzerMutate")
private func mutate(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int) -> Int

/// Unsafe is correct, because libFuzzer makes all its calls on one thread.
nonisolated(unsafe) private let runner = Runner()

/// Runs one scenario. A broken rule, a trap or a sanitizer's report is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    runner.run(UnsafeBufferPointer(start: start, count: count))
    return 0
}

/// Mutates a scenario, line by line.
@_cdecl("LLVMFuzzerCustomMutator")
public func fuzzMutate(
    _ start: UnsafeMutablePointer<UInt8>?, _ count: Int, _ limit: Int, _ seed: CUnsignedInt
) -> Int {
    let mutator = ScenarioMutator(seed: UInt64(seed)) { text in
        var bytes = text + [UInt8](repeating: 0, count: 32)
        bytes.removeLast(bytes.count - mutate(&bytes, text.count, bytes.count))
        return bytes
    }
    return write(mutator.mutated(Array(UnsafeBufferPointer(start: start, count: count))), to: start, limit)
}

/// Combines two scenarios into one.
@_cdecl("LLVMFuzzerCustomCrossOver")
public func fuzzCrossOver(
    _ first: UnsafePointer<UInt8>?, _ firstCount: Int, _ second: UnsafePointer<UInt8>?, _ secondCount: Int,
    _ output: UnsafeMutablePointer<UInt8>?, _ limit: Int, _ seed: CUnsignedInt
) -> Int {
    let crossed = ScenarioMutator(seed: UInt64(seed)) { $0 }.crossed(
        Array(UnsafeBufferPointer(start: first, count: firstCount)),
        Array(UnsafeBufferPointer(start: second, count: secondCount)))
    return write(crossed, to: output, limit)
}

private func write(_ bytes: [UInt8], to output: UnsafeMutablePointer<UInt8>?, _ limit: Int) -> Int {
    let bytes = bytes.prefix(limit)
    _ = UnsafeMutableBufferPointer(start: output, count: limit).update(fromContentsOf: bytes)
    return bytes.count
}
