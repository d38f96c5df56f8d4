import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import Testing

/// The code of the error that a body throws; `nil` if it throws none.
func code(_ body: () throws -> Void) -> TallyError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? TallyError)?.code ?? .internalFault
  }
}

/// Opens the store at a path for a body, checks it and closes it.
func withStore<R>(
  at path: FilePath,
  _ configuration: TaskStore.Configuration = .testing(),
  _ body: (TaskStore) throws -> R
) throws -> R {
  let store = try TaskStore(at: path, configuration: configuration)
  let result = try body(store)
  try checkInvariants(of: store)
  try store.close()
  return result
}

/// Creates a store with one task, closes it and checks that it opens again.
func reopen(_ path: FilePath) throws {
  try withStore(at: path) { store in try store.writeAndWait { _ = try $0.add("first", to: .inbox) } }
  #expect(try taskCount(at: path) == 1)
}

/// Opens a store, checks it and counts its tasks.
func taskCount(at path: FilePath) throws -> Int {
  try withStore(at: path) { store in try store.read { try $0.taskCount } }
}

/// The entries of a directory, in order.
func names(in directory: FilePath) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: directory.string).sorted()
}

/// The remains of creating stores in a directory.
func leftovers(in directory: FilePath) throws -> [String] {
  try names(in: directory).filter { $0.contains(".new-") }
}

/// Writes a file, replacing an existing one.
func write(_ bytes: [UInt8], to path: FilePath) throws {
  let file = try FileDescriptor.open(
    path,
    .writeOnly,
    options: [.create, .truncate, .closeOnExec],
    permissions: .ownerReadWrite
  )
  _ = try file.closeAfter { try file.writeAll(bytes) }
}

/// Reads a whole file.
func bytes(of path: FilePath) throws -> [UInt8] {
  Array(try Data(contentsOf: URL(fileURLWithPath: path.string)))
}

/// Makes a pipe with a name: something that is not a file.
func makePipe(_ path: FilePath) throws {
  // The string outlives the call.
  guard unsafe path.withPlatformString({ unsafe mkfifo($0, 0o600) }) == 0 else { throw Errno(rawValue: errno) }
}
