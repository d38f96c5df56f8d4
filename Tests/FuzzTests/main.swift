// The program that `Scripts/fuzz.sh` builds: libFuzzer generates inputs and hands them to one target. Not part of the
// tests.

import Foundation

/// libFuzzer's loop, for programs that have a `main` of their own.
///
/// The corresponding C function is `LLVMFuzzerRunDriver`; pointers and integers are passed the same way in both languages.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
  _ argumentCount: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ testOneInput: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

extension FuzzTarget {
  /// The one of this process; looked up once, since that takes longer than most inputs.
  fileprivate static let chosen = FuzzTarget(rawValue: ProcessInfo.processInfo.environment["TALLY_FUZZ_TARGET"] ?? "")
}

private func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let target = FuzzTarget.chosen else { preconditionFailure("TALLY_FUZZ_TARGET names no target") }
  // libFuzzer's buffer lives as long as the call; it is copied here.
  let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
  do {
    try target.run(bytes)
  } catch {
    // An optimised build does not print the reason of a failed precondition.
    print("found: \(error)")
    fflush(nil)
    // libFuzzer keeps the input of a process that ends this way.
    preconditionFailure("\(error)")
  }
  return 0
}

private func fuzz() -> CInt {
  var argumentCount = CommandLine.argc
  var arguments = unsafe CommandLine.unsafeArgv
  // The loop only reads and replaces these two variables.
  return unsafe runFuzzer(&argumentCount, &arguments) { start, count in unsafe testOneInput(start, count) }
}

exit(fuzz())
