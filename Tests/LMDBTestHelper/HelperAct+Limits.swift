import Foundation
import LMDB
import SystemPackage
import TestSupport

extension HelperAct {
  /// Makes one of the environment's descriptors fail, commits, and reports the result of that and of the calls after it.
  ///
  /// liblmdb writes data through one descriptor and the meta page, last, through a synchronous one.
  func failDescriptor(synchronous: Bool, target: FilePath, _ mode: FileDescriptor.AccessMode) throws {
    let environment = try LMDBEnvironment(path: directory, options: options(limitAt: 0))
    let counters = try environment.write { try Counters(opening: "counters", creating: true, in: &$0) }
    try environment.write { try counters.put([1], forKey: 1, in: &$0) }
    let descriptor = try descriptor(synchronous: synchronous)
    let copy = try descriptor.duplicate()
    _ = try FileDescriptor.open(target, mode).duplicate(as: descriptor)
    var late: Counters?
    let commit = code {
      try environment.write { transaction in
        try counters.put([2], forKey: 2, in: &transaction)
        late = try Counters(opening: "late", creating: true, in: &transaction)
      }
    }
    say("commit: \(commit)")
    _ = try copy.duplicate(as: descriptor)
    say("write: \(code { try environment.write { try counters.put([3], forKey: 3, in: &$0) } })")
    say("read: \(code { try environment.read { _ = try counters.count(in: $0) } })")
    // One that is opened afterwards may have the same number in liblmdb.
    let use = code {
      _ = try environment.write { try Counters(opening: "later", creating: true, in: &$0) }
      try environment.read { _ = try late?.count(in: $0) }
    }
    say("late: \(use)")
    try environment.close()
    let again = try LMDBEnvironment(path: directory)
    let reopened = try Counters(opening: "counters", in: again)
    say("reopened: \(try again.read { try reopened.value(forKey: 1, in: $0) ?? [] })")
  }

  /// Finds the descriptor of the data file that is written synchronously, or the one that is not.
  private func descriptor(synchronous: Bool) throws -> FileDescriptor {
    for number in Int32(3)..<64 {
      let name = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
      guard name?.hasSuffix("/data.mdb") == true else { continue }
      if (fcntl(number, F_GETFL) & O_DSYNC != 0) == synchronous { return FileDescriptor(rawValue: number) }
    }
    throw Misuse()
  }

  /// Moves the map while the system allows no map at all, then goes on as if nothing had happened.
  func loseMap() throws {
    var options = LMDBEnvironment.Options()
    options.mapSizeInBytes = 1 << 30
    let environment = try LMDBEnvironment(path: directory, options: options)
    try environment.write { _ in }
    limitMemory(to: 1 << 20)
    let growth = code { try environment.growMap() }
    limitMemory(to: .max)
    say("growth: \(growth)")
    say("read: \(code { _ = try environment.beginRead() })")
    say("write: \(code { try environment.write { _ in } })")
    say("close: \(code { try environment.close() })")
    say("again: \(code { _ = try LMDBEnvironment(path: directory).beginRead() })")
  }

  /// Limits the memory that the process may map, and lets the limit be raised again.
  private func limitMemory(to byteCount: rlim_t) {
    var limit = rlimit(rlim_cur: byteCount, rlim_max: .max)
    // The call only reads the local.
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
  }

  /// Opens with the default map, or at least the second number of bytes, while the system allows a fraction of it.
  func openWithLittleMemory() throws {
    limitMemory(to: rlim_t(numbers[0]))
    var options = LMDBEnvironment.Options()
    if numbers.count > 1 { options.minimumMapSizeInBytes = Int(numbers[1]) }
    let failure = code {
      let environment = try LMDBEnvironment(path: directory, options: options)
      say("\(try environment.information().mapSizeInBytes)")
    }
    if failure != "none" { say(failure) }
  }

  /// Opens as a user who may not, which the tests' own user may be allowed to.
  func openUnprivileged() throws {
    if getuid() == 0 { setuid(65534) }
    say(code { _ = try LMDBEnvironment(path: directory) })
  }

  /// Ends a write transaction on another thread than it began on, then lets its own thread clear up.
  func commitOnForeignThread() throws {
    var options = LMDBEnvironment.Options()
    options.writeWaitLimit = .seconds(5)
    let environment = try LMDBEnvironment(path: directory, options: options)
    let box = Box(try environment.beginWrite())
    onOtherThread { say("commit: \(code { try box.commit() })") }
    onOtherThread { say("other writer: \(code { _ = try environment.beginWrite() })") }
    say("own writer: \(code { try environment.write { _ in } })")
    onOtherThread { say("other writer afterwards: \(code { try environment.write { _ in } })") }
    say("close: \(code { try environment.close() })")
  }

  private func onOtherThread(_ body: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      body()
      done.signal()
    }
    done.wait()
  }
}

/// Carries a transaction to another thread behind the compiler's back.
final class Box: @unchecked Sendable {
  private var transaction: WriteTransaction?

  init(_ transaction: consuming WriteTransaction) {
    self.transaction = consume transaction
  }

  func commit() throws {
    try transaction.take()?.commit()
  }
}
