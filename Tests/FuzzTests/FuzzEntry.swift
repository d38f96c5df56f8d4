import Foundation

/// The target that this process fuzzes.
private let target = FuzzTarget(rawValue: ProcessInfo.processInfo.environment["TALLY_FUZZ_TARGET"] ?? "")

/// What libFuzzer calls with each input; unused in the tests, which replay what it found.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let target else { preconditionFailure("TALLY_FUZZ_TARGET names no target") }
  // libFuzzer's buffer lives as long as the call; it is copied here.
  let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
  do {
    try target.run(bytes)
  } catch {
    // libFuzzer keeps the input of a process that ends so.
    preconditionFailure("\(error)")
  }
  return 0
}
