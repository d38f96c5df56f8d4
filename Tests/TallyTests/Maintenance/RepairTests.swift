import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallyTestSupport
import Testing

@testable import Tally

/// Any fault that a wrong index maintainer could cause is found by `verify` and corrected by `repair`: views, ledger and
/// counters are then those of the store before the damage.
@Suite struct RepairTests {
  static let indexes = TableName.allCases.map(\.rawValue).filter {
    $0.hasPrefix("by") || $0 == "listsByOrder" || $0 == "deletedByCreated"
  }

  @Test(arguments: indexes)
  func aMissingEntryIsMended(table: String) throws {
    try expectMended(finding: "missingEntry in \(table)") { store in
      let key = try #require(try store.firstKey(of: table))
      try store.change(table) { _ = try $0.remove(forKey: key, in: &$1) }
    }
  }

  @Test(arguments: indexes)
  func anEntryWithoutARecordIsMended(table: String) throws {
    try expectMended(finding: "danglingEntry in \(table)") { store in
      var key = try #require(try store.firstKey(of: table))
      key[key.count - 1] ^= 0x55
      try store.change(table) { try $0.put([], forKey: key, in: &$1) }
    }
  }

  @Test(arguments: indexes)
  func bytesThatAreNoKeyAreMended(table: String) throws {
    try expectMended(finding: "danglingEntry in \(table)") { store in
      try store.change(table) { try $0.put([], forKey: [1, 2, 3], in: &$1) }
    }
  }

  @Test func anEntryThatDiffersFromItsRecordIsMended() throws {
    try expectMended(finding: "wrongEntry in byPlace") { store in
      var key = try #require(try store.firstKey(of: "byPlace"))
      let old = key
      key[20] ^= 0x01
      try store.change("byPlace") {
        _ = try $0.remove(forKey: old, in: &$1)
        try $0.put([], forKey: key, in: &$1)
      }
    }
  }

  @Test func aTaskThatStandsInAnOrderTwiceIsMended() throws {
    try expectMended(finding: "duplicateEntry in byPlace") { store in
      var key = try #require(try store.firstKey(of: "byPlace"))
      key[20] ^= 0x01
      try store.change("byPlace") { try $0.put([], forKey: key, in: &$1) }
    }
  }

  @Test(arguments: ["counts", "totals"])
  func countersThatAreOffAreMended(table: String) throws {
    try expectMended(finding: "wrongCounter in \(table)") { store in
      let key = try #require(try store.firstKey(of: table))
      try store.change(table) { table, transaction in
        var value = try #require(try table.value(forKey: key, in: transaction))
        value[value.count - 1] &+= 1
        try table.put(value, forKey: key, in: &transaction)
      }
    }
  }

  @Test(arguments: ["counts", "totals"])
  func countersThatAreGoneAreMended(table: String) throws {
    try expectMended(finding: "wrongCounter in \(table)") { store in
      try store.change(table) { try $0.removeAll(in: &$1) }
    }
  }

  @Test func aHistoryThatCannotBeReadBeginsAnew() throws {
    try expectMended(finding: "invalidRecord in history") { store in
      let key = try #require(try store.firstKey(of: "history"))
      try store.change("history") { try $0.put([9, 9], forKey: key, in: &$1) }
    }
  }

  @Test func aLedgerThatLacksACompletionIsMended() throws {
    try expectMended(finding: "missingEntry in completions") { store in
      let key = try #require(try store.firstKey(of: "completions"))
      try store.change("completions") { _ = try $0.remove(forKey: key, in: &$1) }
    }
  }

  @Test func aLedgerEntryAtAnotherInstantIsMended() throws {
    try expectMended(finding: "wrongEntry in completions") { store in
      let key = try #require(try store.firstKey(of: "completions"))
      var moved = key
      moved[7] ^= 0x20
      try store.change("completions") { table, transaction in
        let value = try #require(try table.value(forKey: key, in: transaction))
        _ = try table.remove(forKey: key, in: &transaction)
        try table.put(value, forKey: moved, in: &transaction)
      }
    }
  }

  @Test func aLedgerEntryThatDiffersFromItsTaskIsMended() throws {
    try expectMended(finding: "wrongEntry in completions") { store in
      let key = try #require(try store.firstKey(of: "completions"))
      try store.change("completions") { table, transaction in
        var value = try #require(try table.value(forKey: key, in: transaction))
        value[3] ^= 0x0F
        try table.put(value, forKey: key, in: &transaction)
      }
    }
  }

  @Test func aCompletionKeepsItsListWhenItIsMovedToTheInstantOfItsTask() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try withStore(at: path) { store in
        try store.writeAndWait { transaction in
          let list = try transaction.addList(name: "Home")
          let id = try transaction.add("done at home", to: .list(list.id)).id
          try transaction.complete(id)
          try transaction.move(id, toList: nil)
        }
      }
      let expected = try contents(at: path)
      try change("completions", at: path) { table, transaction in
        let key = try #require(try firstKey(of: table, in: transaction))
        var moved = key
        moved[7] ^= 0x20
        let value = try #require(try table.value(forKey: key, in: transaction))
        _ = try table.remove(forKey: key, in: &transaction)
        try table.put(value, forKey: moved, in: &transaction)
      }
      #expect(try TaskStore.repair(at: path, configuration: .testing()).after.isSound)
      #expect(try contents(at: path) == expected)
    }
  }

  @Test func aCompletionOfALiveTaskThatIsThereAsThatOfADeletedOneTooIsMended() throws {
    try expectMended(finding: "duplicateEntry in completions") { store in
      let key = try #require(try store.firstKey(of: "completions"))
      try store.change("completions") { table, transaction in
        let value = try #require(try table.value(forKey: key, in: transaction))
        try table.put(value, forKey: [1] + key.dropFirst(), in: &transaction)
      }
    }
  }

  @Test(arguments: indexes + ["counts", "totals"])
  func aMissingTableIsMadeAnew(table: String) throws {
    try withFilledStore { directory, expected in
      try dropTable(table, at: directory)
      #expect(throws: TallyError.self) { try TaskStore(at: directory, configuration: .testing()) }
      let report = try TaskStore.verify(at: directory, configuration: .testing())
      #expect(report.faults.map(\.description) == ["missingTable in \(table)"])
      #expect(try TaskStore.repair(at: directory, configuration: .testing()).after.isSound)
      #expect(try contents(at: directory) == expected)
    }
  }

  @Test func aMissingHeaderIsReplacedUnderANewIdentity() throws {
    try withFilledStore { directory, expected in
      try change("meta", at: directory) { try $0.removeAll(in: &$1) }
      #expect(throws: TallyError.self) { try TaskStore(at: directory, configuration: .testing()) }
      let report = try TaskStore.repair(at: directory, configuration: .testing())
      #expect(report.before.faults.map(\.kind) == [.damagedHeader])
      // Beyond the one commit that the records remember.
      #expect(report.after.isSound && report.after.sequence == 2)
      #expect(try contents(at: directory) == expected)
    }
  }

  /// The bug: verification passed such a header, repair left it alone, and nothing opened the store; or the next commit
  /// got a sequence that nothing could read.
  @Test(arguments: [true, false])
  func aHeaderThatCannotBeIsReplacedUnderANewIdentity(isOfFormatZero: Bool) throws {
    try withFilledStore { directory, expected in
      let largest = [0x7F] + Array(repeating: UInt8(0xFF), count: 6) + [0xFE]
      let bytes = isOfFormatZero ? [0, 0] : largest
      let offset = isOfFormatZero ? 0 : 24
      try change("meta", at: directory) { table, transaction in
        let key = MetaKey.header.encodedBytes
        var header = try #require(try table.value(forKey: key, in: transaction))
        header.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        try table.put(header, forKey: key, in: &transaction)
      }
      let added = code {
        let store = try TaskStore(at: directory, configuration: .testing())
        defer { try? store.close() }
        try store.writeAndWait { _ = try $0.add("one more", to: .inbox) }
      }
      #expect(added == .damagedStore)
      let report = try TaskStore.verify(at: directory, configuration: .testing())
      #expect(report.faults.map(\.kind) == [.damagedHeader])
      let repaired = try TaskStore.repair(at: directory, configuration: .testing())
      #expect(repaired.after.isSound && repaired.after.sequence == 2)
      #expect(try contents(at: directory) == expected)
      try withStore(at: directory) { store in try store.writeAndWait { _ = try $0.add("one more", to: .inbox) } }
    }
  }

  @Test func aStoreWithoutTasksTableIsLeftAlone() throws {
    try withFilledStore { directory, _ in
      try dropTable("tasks", at: directory)
      #expect { try TaskStore.repair(at: directory, configuration: .testing()) } throws: {
        ($0 as? TallyError)?.code == .damagedStore
      }
      #expect(try names(in: directory).filter(SafetyCopy.isSafetyCopy).isEmpty)
    }
  }

  @Test func aTaskWhoseListIsGoneGoesToTheInbox() throws {
    try withFilledStore { directory, _ in
      try change("lists", at: directory) { try $0.removeAll(in: &$1) }
      let report = try TaskStore.repair(at: directory, configuration: .testing())
      #expect(report.before.faults.contains { $0.kind == .unknownList })
      #expect(report.after.isSound)
      try withStore(at: directory) { (store) throws in
        #expect(try store.read { try $0.view(.inbox).tasks.map(\.title).contains("done") })
      }
    }
  }

  /// A query for later changes must find the task; but a time that is later already stays.
  @Test(arguments: [3_600, -3_600] as [Int64])
  func aTaskThatRepairMovesHasChangedThen(seconds: Int64) throws {
    try withFilledStore { directory, _ in
      try change("lists", at: directory) { try $0.removeAll(in: &$1) }
      let clock = TestClock(TestClock.noon.now.adding(seconds: seconds))
      try TaskStore.repair(at: directory, configuration: .testing(clock: clock))
      try withStore(at: directory) { (store) throws in
        let task = try #require(try store.read { try $0.view(.inbox).tasks.first { $0.title == "done" } })
        #expect(task.updatedAt == max(clock.now, TestClock.noon.now))
      }
    }
  }

  @Test func aTaskThatRepairMovesIsAmongTheChangesSince() throws {
    try withFilledStore { directory, _ in
      let before = try withStore(at: directory) { store in try store.read { try $0.position } }
      try change("lists", at: directory) { try $0.removeAll(in: &$1) }
      try TaskStore.repair(at: directory, configuration: .testing())
      try withStore(at: directory) { store in
        let (changes, moved) = try store.read { (try $0.changes(since: before), try $0.view(.inbox).tasks.map(\.id)) }
        #expect(!moved.isEmpty && changes.isComplete)
        #expect(changes.tasks.updated.isSuperset(of: moved))
      }
    }
  }

  /// Its sequence has no next one.
  @Test func aRecordOfTheLastPossibleCommitDoesNotStopARepair() throws {
    try withFilledStore { directory, _ in
      try change("meta", at: directory) { try $0.removeAll(in: &$1) }
      let key = try #require(try firstKey(of: "tasks", at: directory))
      try change("tasks", at: directory) { table, transaction in
        var task = try #require(try table.value(forKey: key, in: transaction))
        task.replaceSubrange(38..<46, with: repeatElement(0xFF, count: 8))
        try table.put(task, forKey: key, in: &transaction)
      }
      let report = try TaskStore.repair(at: directory, configuration: .testing())
      #expect(report.after.sequence == StoreHeader.lastSequence)
    }
  }

  @Test func aHistoryOfACommitThatIsYetToComeIsFound() throws {
    try withFilledStore { directory, _ in
      let key = try #require(try firstKey(of: "history", at: directory))
      var later = key
      later[6] = 9
      try change("history", at: directory) { table, transaction in
        let value = try #require(try table.value(forKey: key, in: transaction))
        _ = try table.remove(forKey: key, in: &transaction)
        try table.put(value, forKey: later, in: &transaction)
      }
      let report = try TaskStore.verify(at: directory, configuration: .testing())
      #expect(report.faults.map(\.description) == ["invalidRecord in history"])
    }
  }

  /// A total that would become negative contradicts the records: it is not written.
  @Test func aTotalBelowWhatTheRecordsSayIsDamage() throws {
    try withFilledStore { directory, _ in
      try change("totals", at: directory) { try $0.removeAll(in: &$1) }
      let store = try TaskStore(at: directory, configuration: .testing())
      let ids = try store.read { try $0.view(.all).tasks.map(\.id) }
      #expect(
        code { try store.writeAndWait { transaction in for id in ids { try transaction.delete(id) } } } == .damagedStore
      )
      #expect(try store.read { try $0.view(.all).tasks.map(\.id) } == ids)
      try store.close()
    }
  }

  @Test(arguments: ["tasks", "lists", "completions"])
  func aRecordThatCannotBeReadIsSetAsideWithItsBytes(table: String) throws {
    try withFilledStore { directory, _ in
      let key = try #require(try firstKey(of: table, at: directory))
      try change(table, at: directory) { try $0.put([9, 9, 9], forKey: key, in: &$1) }
      let report = try TaskStore.repair(at: directory, configuration: .testing())
      #expect(report.before.faults.contains { $0.kind == .unreadableRecord && $0.table == table })
      #expect(report.after.isSound && report.after.setAsideCount == 1)
      #expect(try value(of: "setAside", forKey: Array(table.utf8) + [0] + key, at: directory) == [9, 9, 9])
    }
  }

  @Test func aCompletionWhoseTaskIsGoneCountsOn() throws {
    try withFilledStore { directory, _ in
      let key = try #require(try firstKey(of: "completions", at: directory))
      try change("tasks", at: directory) { _ = try $0.remove(forKey: Array(key[9...]), in: &$1) }
      let report = try TaskStore.repair(at: directory, configuration: .testing())
      #expect(report.after.isSound && report.after.completionCount == 2)
    }
  }

  @Test func theOldStoreIsKeptAndCanBeTakenBack() throws {
    try withFilledStore { directory, _ in
      try change("counts", at: directory) { try $0.removeAll(in: &$1) }
      let kept = try #require(try TaskStore.repair(at: directory, configuration: .testing()).safetyCopy)
      // It is damaged and therefore refused: the safety copy is the store before the repair, not a sound one.
      #expect { try TaskStore.restore(from: kept, to: directory, configuration: .testing()) } throws: {
        ($0 as? TallyError)?.code == .damagedStore
      }
      #expect(try kept.stat().permissions == .ownerReadWrite)
    }
  }

  @Test func aSoundStoreIsLeftAsItIs() throws {
    try withFilledStore { directory, _ in
      let bytes = try Data(contentsOf: URL(filePath: directory.appending("data.mdb").string))
      #expect(try TaskStore.repair(at: directory, configuration: .testing()).safetyCopy == nil)
      #expect(try Data(contentsOf: URL(filePath: directory.appending("data.mdb").string)) == bytes)
    }
  }

  @Test func anOpenStoreIsNotRepaired() throws {
    try withStore { store in
      var configuration = TaskStore.Configuration.testing()
      configuration.waitLimitInSeconds = 0
      #expect { try TaskStore.repair(at: store.directory, configuration: configuration) } throws: {
        ($0 as? TallyError)?.code == .alreadyOpen
      }
    }
  }

  private func expectMended(finding fault: String, _ damage: (DamagedStore) throws -> Void) throws {
    try withFilledStore { directory, expected in
      try damage(DamagedStore(directory: directory))
      let report = try TaskStore.repair(at: directory, configuration: .testing())
      #expect(report.before.faults.map { "\($0.kind) in \($0.table)" }.contains(fault))
      #expect(report.after.isSound, "\(report.after.faults)")
      #expect(try contents(at: directory) == expected)
    }
  }
}
