import Foundation
import LMDB
import SystemPackage

/// What the helper is asked to do.
struct Act {
  let name: String
  let directory: FilePath
  let numbers: [Int]

  init(_ arguments: ArraySlice<String>) throws {
    guard let name = arguments.first, let directory = arguments.dropFirst().first else { throw Misuse() }
    self.name = name
    self.directory = FilePath(directory)
    numbers = arguments.dropFirst(2).compactMap { Int($0) }
  }

  struct Misuse: Error {}

  func run() throws {
    switch name {
    case "hold-read": try holdRead()
    case "hold-write": try holdWrite()
    case "count": try count()
    case "watch": try watch()
    case "enlarge": try enlarge()
    case "open-and-close": try openAndClose()
    case "fork": try forkInside()
    case "fail-data": try failDescriptor(synchronous: false, target: "/dev/full", .writeOnly)
    case "fail-meta": try failDescriptor(synchronous: true, target: "/dev/null", .readOnly)
    case "little-memory": try openWithLittleMemory()
    case "unprivileged": try openUnprivileged()
    case "foreign-thread": try commitOnForeignThread()
    default: throw Misuse()
    }
  }

  /// The code of the error a body throws, or `none`.
  func code(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "none"
    } catch let error as LMDBError {
      return "\(error.code)"
    } catch {
      return "\(error)"
    }
  }
}

typealias Counters = Database<UInt64, [UInt8]>

/// Writes a line at once: the reader waits for it, and a child of a fork must not repeat a buffer.
func say(_ line: String) {
  // Without a reader there is nobody to tell of the failure.
  _ = try? FileDescriptor.standardOutput.writeAll("\(line)\n".utf8)
}
