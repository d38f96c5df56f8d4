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

/// A file that takes the space of a small disk.
struct DiskFiller {
  static let pageSizeInBytes = 4_096

  private let directory: FilePath

  /// Fills the disk of a directory.
  init(directory: FilePath) {
    self.directory = directory
  }

  private var file: FilePath { directory.appending("filler") }

  /// Takes all space except some pages.
  func fill(leaving pageCount: Int) throws {
    let left = pageCount * Self.pageSizeInBytes
    let free = try FileManager.default.attributesOfFileSystem(forPath: directory.string)[.systemFreeSize] as? Int
    guard let free, free >= left else { throw Failure(description: "the disk is too small") }
    try Data(count: free - left).write(to: URL(filePath: file.string))
  }

  /// Gives the space back.
  func remove() throws { try FileManager.default.removeItem(atPath: file.string) }
}
