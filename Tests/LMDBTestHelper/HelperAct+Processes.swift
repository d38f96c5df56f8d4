import Foundation
import LMDB
import SystemPackage
import TallySystem
import TestSupport

extension HelperAct {
  /// Does what a process has done that is opening an environment which nobody else has open, just before liblmdb sets the
  /// number of the last commit in the lock file; then waits to be killed.
  ///
  /// The number says whether it is a process of this binding, which keeps others of them from opening meanwhile.
  func openHalfway() throws {
    let file = try FileDescriptor.open(directory.appending("lock.mdb"), .readWrite)
    if numbers[0] == 1 {
      try ByteLock(file, byte: LockFile.openingByte, owner: .descriptor).acquire(.exclusive)
    }
    try ByteLock(file, byte: 0, owner: .process).acquire(.exclusive)
    // The place of `mti_txnid`: after the magic number, the format and a mutex.
    try file.writeAll(toAbsoluteOffset: 48, [UInt8](repeating: 0, count: 8))
    say("ready")
    _ = readLine()
  }

  /// Keeps a snapshot until a line comes in.
  func holdRead() throws {
    let environment = try LMDBEnvironment(path: directory)
    let transaction = try environment.beginRead()
    say("ready")
    _ = readLine()
    say("saw \(try transaction.databaseNames().count >= 0)")
  }

  /// Makes commits that stay in the log, and keeps the environment open until a line comes in.
  func holdLog() throws {
    var options = LMDBEnvironment.Options()
    options.writeWaitLimit = .seconds(60)
    var log = LogStore.Options()
    log.mergesByItself = false
    options.log = log
    let environment = try LMDBEnvironment(path: directory, options: options)
    let counters = try environment.write { try Counters(opening: "counters", creating: true, in: &$0) }
    for number in 0..<UInt64(numbers[0]) {
      try environment.write { try counters.put([UInt8(number)], forKey: number, in: &$0) }
    }
    say("ready")
    _ = readLine()
    try environment.close()
    say("closed")
  }

  /// Options with a limit for waiting, in seconds, if the act has a number for it.
  func options(limitAt index: Int) -> LMDBEnvironment.Options {
    var options = LMDBEnvironment.Options()
    if numbers.indices.contains(index) { options.writeWaitLimit = .seconds(numbers[index]) }
    return options
  }

  /// Keeps the write lock, with a change, until a line comes in.
  func holdWrite() throws {
    let environment = try LMDBEnvironment(path: directory, options: options(limitAt: 0))
    var transaction = try environment.beginWrite()
    let counters = try Counters(opening: "counters", creating: true, in: &transaction)
    try counters.put([0xFF], forKey: 99, in: &transaction)
    say("ready")
    _ = readLine()
    transaction.abort()
  }

  /// Raises two equal counters together, one transaction each time.
  func count() throws {
    let environment = try LMDBEnvironment(path: directory, options: options(limitAt: 1))
    for _ in 0..<numbers[0] {
      try environment.write { transaction in
        let counters = try Database<UInt64, UInt64>(opening: "counters", creating: true, in: &transaction)
        let next = (try counters.value(forKey: 0, in: transaction) ?? 0) + 1
        try counters.put(next, forKey: 0, in: &transaction)
        try counters.put(next, forKey: 1, in: &transaction)
      }
    }
  }

  /// Reads both counters until they reach a number; each snapshot must be whole, and none older than the last.
  func watch() throws {
    let environment = try LMDBEnvironment(path: directory)
    let counters = try Database<UInt64, UInt64>(opening: "counters", in: environment)
    var (last, snapshots) = (UInt64(0), 0)
    while last < numbers[0] {
      let (left, right) = try environment.read { transaction in
        (
          try counters.value(forKey: 0, in: transaction) ?? 0, try counters.value(forKey: 1, in: transaction) ?? 0
        )
      }
      guard left == right, left >= last else { return say("torn: \(left) \(right) after \(last)") }
      (last, snapshots) = (left, snapshots + 1)
    }
    say("whole")
  }

  /// Opens with a map of the first number of bytes, and writes values of the second number in all.
  func enlarge() throws {
    var options = LMDBEnvironment.Options()
    options.mapSizeInBytes = numbers[0]
    options.minimumMapSizeInBytes = numbers[0]
    let environment = try LMDBEnvironment(path: directory, options: options)
    try environment.write { transaction in
      let counters = try Counters(opening: "large", creating: true, in: &transaction)
      let value = [UInt8](repeating: 7, count: 4000)
      for key in 0..<UInt64(numbers[1] / value.count) { try counters.put(value, forKey: key, in: &transaction) }
    }
    say("\(try environment.information().mapSizeInBytes)")
  }

  /// Creates the file of a lock under the mask given as a number.
  func lockUnderMask() {
    umask(mode_t(numbers[0]))
    say(code { _ = try FileLock(opening: directory.appending("lock")).tryAcquire(.exclusive) })
  }

  /// Opens, reads and closes again and again.
  func openAndClose() throws {
    for _ in 0..<numbers[0] {
      let environment = try LMDBEnvironment(path: directory)
      try environment.read { transaction in _ = try transaction.databaseNames() }
      try environment.close()
    }
    say("done")
  }
}
