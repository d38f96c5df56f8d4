import Foundation
import SystemPackage

/// The command line's program with stores on a disk that may be full.
struct TallyOnDisk {
  /// The exit status of a program that found no space, among other failures of the storage.
  static let storageFailed: Int32 = 74

  let directory: FilePath

  private static let program = FilePath(ChildProcess.program).removingLastComponent().appending("tally").string

  func run(_ arguments: [String], store: String) throws -> (ending: ChildProcess.Ending, lines: [String]) {
    // The program's output must not need space on the full disk.
    let output = FilePath("/dev/shm/tally-faults-\(getpid()).out")
    defer { try? FileManager.default.removeItem(atPath: output.string) }
    let child = try ChildProcess(
      [Self.program] + arguments + ["--store", directory.appending(store).string], output: output)
    return (child.wait(), child.lines)
  }
}
