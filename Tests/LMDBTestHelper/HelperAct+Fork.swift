import Foundation
import LMDB
import SystemPackage
import TallySystem
import TestSupport

extension HelperAct {
  /// Forks with both kinds of transaction open, and prints what the child saw and what is left to the parent.
  func forkInside() throws {
    var options = LMDBEnvironment.Options()
    options.writeWaitLimit = .seconds(60)
    let environment = try LMDBEnvironment(path: directory, options: options)
    let ownLock = directory.appending("own.lock")
    var lock: FileLock? = try FileLock(opening: ownLock)
    guard try lock?.tryAcquire(.exclusive) == true else { throw Misuse() }
    var writer = try environment.beginWrite()
    let counters = try Counters(opening: "counters", creating: true, in: &writer)
    try counters.put([1], forKey: 1, in: &writer)
    let reader = try environment.beginRead()
    let child = try Self.forkProcess()
    if child == 0 {
      let seen = [
        code { _ = try environment.beginRead() },
        code { try environment.close() },
        code { _ = try environment.readers() },
        code { try environment.rewrite(to: directory.appending("rewritten")) },
        code { _ = try reader.databaseNames() },
        code { try counters.put([2], forKey: 2, in: &writer) },
      ]
      // Dropping them must leave the parent's locks and slot alone.
      writer.abort()
      drop(reader)
      lock = nil
      say("child: \(seen.joined(separator: " "))")
      say("child opens: \(code { try openAndLook() })")
      _exit(0)
    }
    var status: Int32 = 0
    // The call only writes into the local it is given.
    unsafe waitpid(child, &status, 0)
    say("child ended: \(status)")
    let live = try environment.readers().filter { $0.transactionID != nil }
    say("parent's readers: \(live.count)")
    let isTurnFree = try FileLock(openingDirectory: directory).tryAcquire(.exclusive)
    say("parent's turn is free: \(isTurnFree), its lock: \(try FileLock(opening: ownLock).tryAcquire(.exclusive))")
    lock?.release()
    try writer.commit()
    drop(reader)
    try environment.write { try counters.put([3], forKey: 3, in: &$0) }
    say("parent wrote: \(try environment.read { try counters.count(in: $0) })")
  }

  /// Keeps a snapshot; a child of a fork, which has nothing to do with it, lives until its input ends.
  func forkAndRead() throws {
    let environment = try LMDBEnvironment(path: directory)
    let reader = try environment.beginRead()
    if try Self.forkProcess() == 0 {
      _ = readLine()
      _exit(0)
    }
    say("ready")
    while try environment.readers().count > 0 { sleep(1) }
    drop(reader)
  }

  private func openAndLook() throws {
    let environment = try LMDBEnvironment(path: directory)
    try environment.close()
  }

  private func drop(_ transaction: consuming ReadTransaction) {
    _ = consume transaction
  }
}
