import Foundation
import LMDB
import SystemPackage
import TestSupport

extension HelperAct {
  /// Runs the act.
  func run() throws {
    switch name {
    case "half-open": try openHalfway()
    case "hold-read": try holdRead()
    case "hold-log": try holdLog()
    case "hold-write": try holdWrite()
    case "count": try count()
    case "watch": try watch()
    case "enlarge": try enlarge()
    case "open-and-close": try openAndClose()
    case "lock-under-mask": lockUnderMask()
    case "fork": try forkInside()
    case "fork-and-read": try forkAndRead()
    case "fail-data": try failDescriptor(synchronous: false, target: "/dev/full", .writeOnly)
    case "fail-meta": try failDescriptor(synchronous: true, target: "/dev/null", .readOnly)
    case "little-memory": try openWithLittleMemory()
    case "lost-map": try loseMap()
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
