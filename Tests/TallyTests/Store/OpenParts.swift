import Foundation
import SystemPackage
import TallySystem

@testable import LMDB
@testable import Tally

/// The open files of a store, for tests that look below it.
extension TaskStore {
  var environment: LMDBEnvironment {
    get throws { try connection.current.environment }
  }

  var tables: Tables {
    get throws { try connection.current.tables }
  }

  /// Disables liblmdb, as a failure of the disk or of the system does: the next call opens the files again.
  func fail() throws {
    try environment.state.withLock { $0.hasLostMap = true }
  }

  /// Waits until a thread waits for the last transaction to end, to close the environment.
  func waitUntilDraining() async throws {
    let environment = try environment
    await waitUntil { environment.state.withLock { $0.isDraining } }
  }
}

/// Descriptors and maps of this process that lead into a directory.
func openNames(under directory: FilePath) throws -> [String] {
  let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n").map(String.init)
  return (try openDescriptors().map(\.name) + maps).filter { $0.contains(directory.string) }
}

private func openDescriptors() throws -> [(descriptor: FileDescriptor, name: String)] {
  let (files, directory) = (FileManager.default, "/proc/self/fd")
  return try files.contentsOfDirectory(atPath: directory).compactMap { number in
    guard let name = try? files.destinationOfSymbolicLink(atPath: "\(directory)/\(number)") else { return nil }
    return Int32(number).map { (FileDescriptor(rawValue: $0), name) }
  }
}

/// The descriptor through which liblmdb flushes a store's file, replaced by one that cannot be flushed.
struct FailingFlushes {
  private let descriptor: FileDescriptor
  private let original: FileDescriptor

  private struct NoDescriptor: Error {}

  /// Flushes fail from now on, and so do commits.
  init(of store: TaskStore) throws {
    let file = try store.environment.dataFile
    // The other one is for the meta pages, and writes through to the disk.
    let found = try openDescriptors().first { descriptor, name in
      name == file.string && fcntl(descriptor.rawValue, F_GETFL) & O_DSYNC == 0
    }
    guard let found else { throw NoDescriptor() }
    descriptor = found.descriptor
    original = try descriptor.duplicate()
    // A path and no file: the call fails with EBADF, as if the disk had gone.
    let pathOnly = FileDescriptor.OpenOptions(rawValue: 0o10000000)
    let unusable = try FileDescriptor.open(file, .readOnly, options: [pathOnly, .closeOnExec])
    _ = try unusable.duplicate(as: descriptor)
    try unusable.close()
  }

  /// Flushes succeed again.
  func end() throws {
    _ = try original.duplicate(as: descriptor)
    try original.close()
  }
}
