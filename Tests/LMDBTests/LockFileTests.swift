import Foundation
import SystemPackage
import TallySystem
import TestSupport
import Testing

@testable import LMDB

/// The locks that show other processes that this one has an environment open and reads from it.
@Suite struct LockFileTests {
  private static let owners: [ByteLock.Owner] = [.descriptor, .process]

  private static func sample(_ owner: ByteLock.Owner) throws -> Sample {
    var options = LMDBEnvironment.Options()
    options.lockOwner = owner == .descriptor ? ByteLock.strongestOwner : owner
    return try Sample(options: options)
  }

  /// A copy of the whole directory, file by file, as a program makes it of its own store.
  private static func copyDirectory(_ path: FilePath) throws {
    let copy = try TemporaryDirectory()
    for name in try FileManager.default.contentsOfDirectory(atPath: path.string) {
      let data = try Data(contentsOf: URL(fileURLWithPath: path.appending(name).string))
      try data.write(to: URL(fileURLWithPath: copy.path.appending(name).string))
    }
  }

  @Test func aSnapshotOutlivesACopyOfItsOwnDirectory() throws {
    let sample = try Self.sample(.descriptor)
    try sample.put([1], forKey: 1)
    try sample.environment.read { transaction in
      try Self.copyDirectory(sample.directory.path)
      let other = try HelperProcess("open-and-close", sample.directory, 3)
      #expect(other.lines() == ["done"])
      let isListed = try sample.environment.readers().contains { $0.transactionID == transaction.snapshotNumber }
      #expect(isListed)
      let isHeld = transaction.hasReaderSlot
      #expect(isHeld)
      // Pages that the snapshot needs would be used again by these.
      for number in UInt8(0)..<50 { try sample.put([UInt8](repeating: number, count: 3_000), forKey: UInt64(number)) }
      let value = try sample.numbers.value(forKey: 1, in: transaction)
      #expect(value == [1])
    }
    try sample.environment.checkStructure()
  }

  /// liblmdb sets the number of the last commit last when it makes a lock file anew.
  ///
  /// If it is killed before, whoever waited
  /// finds zero there, and would write over the commits. One commit without its number looks like one that is being written, so that is for processes of this binding only.
  @Test(
    .enabled(if: ByteLock.strongestOwner == .descriptor),
    arguments: [(1, true), (2, true), (7, true), (2, false), (3, false), (8, false)])
  func aLockFileThatIsMadeHalfHidesNoCommit(commitCount: Int, isOfThisBinding: Bool) throws {
    let directory = try TemporaryDirectory()
    func write(_ number: Int) throws {
      let environment = try LMDBEnvironment(path: directory.path)
      try environment.write { transaction in
        let table = try Database<UInt64, UInt64>(opening: "numbers", creating: true, in: &transaction)
        try table.put(UInt64(number), forKey: UInt64(number), in: &transaction)
      }
      try environment.close()
    }
    for number in 0..<commitCount { try write(number) }
    let half = try HelperProcess("half-open", directory, isOfThisBinding ? 1 : 0)
    #expect(half.line() == "ready")
    let result = Monitor<Result<LMDBEnvironment, any Error>?>(nil)
    Thread {
      let opened = Result { try LMDBEnvironment(path: directory.path) }
      result.withLock { $0 = opened }
      result.wakeAll()
    }.start()
    // Long enough for the thread to wait for the helper.
    Thread.sleep(forTimeInterval: 0.2)
    half.kill()
    let environment = try #require(result.wait(atMost: .seconds(60)) { $0 }).get()
    let table = try Database<UInt64, UInt64>(opening: "numbers", in: environment)
    #expect(try environment.read { try table.count(in: $0) } == commitCount)
    try environment.close()
    try write(commitCount)
    let again = try LMDBEnvironment(path: directory.path)
    let found = try Database<UInt64, UInt64>(opening: "numbers", in: again)
    #expect(try again.read { try found.count(in: $0) } == commitCount + 1)
    try again.checkStructure()
  }

  /// It waits for the kill as long as it may, and no longer.
  @Test(.enabled(if: ByteLock.strongestOwner == .descriptor))
  func openingIsRefusedWhileAnotherProcessIsOpening() throws {
    let sample = try Self.sample(.descriptor)
    try sample.environment.close()
    let opening = try HelperProcess("half-open", sample.directory, 1)
    #expect(opening.line() == "ready")
    var options = LMDBEnvironment.Options()
    options.waitLimitInSeconds = 0
    let error = #expect(throws: LMDBError.self) { try LMDBEnvironment(path: sample.directory.path, options: options) }
    #expect(error?.code == .busy && error?.remedy.contains("stopped") == true)
    opening.kill()
    try LMDBEnvironment(path: sample.directory.path, options: options).checkStructure()
  }

  /// Another program, which has taken a file that was made half for one in use, would overwrite the last commits.
  ///
  /// The number before the last one is what a writer leaves that is killed at the end of a commit.
  @Test(arguments: [UInt64(1), 2, 3])
  func openingIsRefusedWhileAnotherProcessKnowsNoLastCommit(distance: UInt64) throws {
    let sample = try Sample()
    for key in UInt64(1)...3 { try sample.put([1], forKey: key) }
    try sample.environment.close()
    let other = try HelperProcess("hold-read", sample.directory)
    #expect(other.line() == "ready")
    let file = try FileDescriptor.open(sample.directory.path.appending("lock.mdb"), .readWrite)
    try file.closeAfter {
      var number: UInt64 = 0
      _ = try unsafe withUnsafeMutableBytes(of: &number) { try unsafe file.read(fromAbsoluteOffset: 48, into: $0) }
      number -= distance
      _ = try unsafe withUnsafeBytes(of: number) { try unsafe file.writeAll(toAbsoluteOffset: 48, $0) }
    }
    if distance == 1 { return try LMDBEnvironment(path: sample.directory.path).checkStructure() }
    let error = #expect(throws: LMDBError.self) { try LMDBEnvironment(path: sample.directory.path) }
    #expect(error?.code == .busy && error?.remedy.contains("End all programs") == true)
    other.kill()
    try LMDBEnvironment(path: sample.directory.path).checkStructure()
  }

  /// Without locks of descriptors, the next snapshot makes this process visible again.
  @Test(arguments: owners) func theNextSnapshotAfterACopyIsKept(owner: ByteLock.Owner) throws {
    let sample = try Self.sample(owner)
    for _ in 0..<2 {
      try Self.copyDirectory(sample.directory.path)
      try sample.environment.read { transaction in
        let other = try HelperProcess("open-and-close", sample.directory, 2)
        #expect(other.lines() == ["done"])
        var isHeld = transaction.hasReaderSlot
        #expect(isHeld)
        let living = try HelperProcess("hold-read", sample.directory)
        #expect(living.line() == "ready")
        isHeld = transaction.hasReaderSlot
        #expect(isHeld)
        living.release()
        _ = living.lines()
      }
      try sample.put([2], forKey: 2)
    }
  }

  /// Once another process has cleared the table, the slots that liblmdb keeps for ended readers belong to others.
  @Test func aReaderWhoseSlotIsGoneGetsAnother() throws {
    let sample = try Self.sample(.process)
    #expect(try sample.value(forKey: 1) == nil)
    try Self.copyDirectory(sample.directory.path)
    let other = try HelperProcess("hold-read", sample.directory)
    #expect(other.line() == "ready")
    #expect(try sample.value(forKey: 1) == nil)
    #expect(try sample.environment.read { $0.hasReaderSlot })
    other.release()
    #expect(other.lines() == ["saw true"])
  }

  @Test(arguments: [["data.mdb", "lock.mdb"], ["data.mdb"], ["lock.mdb"]])
  func aTwinByLinksIsTheSameEnvironment(names: [String]) throws {
    let sample = try Self.sample(.descriptor)
    let twin = try TemporaryDirectory()
    for name in names { try SystemCalls.link(sample.directory.path.appending(name), as: twin.path.appending(name)) }
    try sample.environment.read { (transaction) throws in
      #expect(try code { _ = try LMDBEnvironment(path: twin.path) } == .alreadyOpen)
      #expect(LMDBEnvironment.isOpenInThisProcess(twin.path))
      let isHeld = transaction.hasReaderSlot
      #expect(isHeld)
    }
    try sample.environment.close()
    #expect(!LMDBEnvironment.isOpenInThisProcess(twin.path))
    let again = try LMDBEnvironment(path: twin.path)
    #expect(try code { _ = try LMDBEnvironment(path: sample.directory.path) } == .alreadyOpen)
    try again.close()
  }

  @Test func anEnvironmentCanBeOpenedAgainAtOnce() throws {
    let directory = try TemporaryDirectory()
    for _ in 0..<20 {
      let environment = try LMDBEnvironment(path: directory.path)
      #expect(try environment.read { $0.hasReaderSlot })
      try environment.close()
    }
  }

  /// A child that goes on after its parent's end would otherwise keep the parent's snapshot alive.
  @Test func theReaderOfADeadProcessIsClearedAlthoughItsChildLives() throws {
    let sample = try Sample()
    let helper = try HelperProcess("fork-and-read", sample.directory)
    #expect(helper.line() == "ready")
    let reader = try #require(try sample.environment.readers().first { $0.processID != getpid() })
    // Foundation would wait for the child, too.
    Foundation.kill(reader.processID, SIGKILL)
    let cleared = try waitForResult(until: .after(.seconds(20)), pausing: { _ in pause(microseconds: 1_000) }) {
      let count = try sample.environment.clearStaleReaders()
      return count > 0 ? count : nil
    }
    #expect(cleared == 1)
    #expect(try sample.environment.readers().allSatisfy { $0.processID == getpid() })
    helper.release()
  }

  @Test func whoEndsWithTheLastUseIsWaitedFor() throws {
    let directory = try TemporaryDirectory()
    var environment: LMDBEnvironment? = try LMDBEnvironment(path: directory.path)
    let holder = Holder(try #require(environment).beginRead())
    environment?.endWithLastUse()
    environment = nil
    let path = directory.path
    let done = onThread { ready in
      ready.signal()
      #expect(throws: Never.self) { try LMDBEnvironment(path: path).close() }
    }
    // Until the other thread waits.
    for _ in 0..<10_000 where EnvironmentRegistry.open.waiterCount == 0 { usleep(1_000) }
    #expect(LMDBEnvironment.isOpenInThisProcess(path))
    holder.end()
    done.wait()
    #expect(!LMDBEnvironment.isOpenInThisProcess(path))
  }
}

/// Keeps a snapshot until it is told to end.
private final class Holder {
  private var transaction: ReadTransaction?

  init(_ transaction: consuming ReadTransaction) {
    self.transaction = consume transaction
  }

  func end() {
    transaction = nil
  }
}

/// Readers that keep pages from being used again.
@Suite struct LongReadTests {
  private func options(_ reported: Reported? = nil) -> LMDBEnvironment.Options {
    var options = Sample.options(mapSizeInBytes: 1 << 26)
    options.durability = .noMetaSync
    options.onLongRead = { read in reported?.reads.withLock { $0.append(read) } }
    return options
  }

  final class Reported: Sendable {
    let reads = Monitor<[LongRead]>([])
  }

  @Test func aReaderThatWasKilledIsClearedAfterSomeCommits() throws {
    let sample = try Sample(options: options())
    for round in 0..<3 {
      let helper = try HelperProcess("hold-read", sample.directory)
      #expect(helper.line() == "ready")
      helper.kill()
      for number in UInt64(0)...UInt64(2 * ReaderCheck().tolerableLag) {
        try sample.put([UInt8(round)], forKey: number)
      }
      #expect(try sample.environment.readers().allSatisfy { $0.processID == getpid() }, "round \(round)")
    }
  }

  @Test func theFileDoesNotGrowBesideReadersThatAreKilled() throws {
    let sample = try Sample(options: options())
    func write() throws {
      for number in 0..<300 {
        try sample.put([UInt8](repeating: UInt8(number % 250), count: 2_000), forKey: UInt64(number % 20))
      }
    }
    try write()
    let size = try sample.environment.dataFile.stat().size
    for _ in 0..<3 {
      let helper = try HelperProcess("hold-read", sample.directory)
      #expect(helper.line() == "ready")
      helper.kill()
      try write()
    }
    // The few pages of each of 64 commits may be kept; without the check it would be those of 300 commits.
    let growth = Int(try sample.environment.dataFile.stat().size - size)
    #expect(growth < 200 * ReaderCheck().tolerableLag * 100, "grew by \(growth)")
  }

  @Test func aLiveReaderThatIsFarBehindIsReportedOnce() throws {
    let reported = Reported()
    let sample = try Sample(options: options(reported))
    let helper = try HelperProcess("hold-read", sample.directory)
    #expect(helper.line() == "ready")
    let process = try #require(try sample.environment.readers().first { $0.processID != getpid() }).processID
    for number in 0..<ReaderCheck().longLag + 4 * ReaderCheck().tolerableLag {
      try sample.put([1], forKey: UInt64(number % 9))
    }
    let reads = reported.reads.withLock { $0 }
    #expect(reads.map(\.processID) == [process])
    #expect(reads.allSatisfy { $0.lagInCommits >= ReaderCheck().tolerableLag })
    helper.release()
    _ = helper.lines()
  }

  @Test func aReaderIsLookedAtByCommitsAndByTime() {
    var look = ReaderCheck()
    let commits = [(64, 1), (127, 2), (128, 2), (129, 12), (130, 13)]
    let due = commits.map { look.isDue(after: $0, at: .seconds($1)) }
    #expect(due == [true, false, true, true, false])
  }

  @Test func aSnapshotIsLongByLagAndTime() {
    var look = ReaderCheck()
    let reader = Reader(processID: 7, threadID: 1, transactionID: 100)
    let looks = [(163, 1), (170, 2), (190, 3), (5_000, 9)]
    let reported = looks.map { look.record([reader], newest: $0, at: .seconds($1)) }
    #expect(reported == [[], [], [LongRead(processID: 7, lagInCommits: 90, duration: .seconds(1))], []])
    // A later snapshot of the same process.
    let later = Reader(processID: 7, threadID: 1, transactionID: 200)
    let next = look.record([later], newest: 1_300, at: .seconds(10))
    #expect(next.map(\.lagInCommits) == [1_100])
  }
}
