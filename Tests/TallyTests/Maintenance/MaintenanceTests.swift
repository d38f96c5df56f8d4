import Foundation
import LMDB
import Synchronization
import SystemPackage
import TallyEngine
import TallySystem
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct MaintenanceTests {
  @Test func aBackupIsOneFileForItsOwnerThatRestoresTheStore() throws {
    try withFilledStore { directory, expected in
      let file = directory.removingLastComponent().appending("backup.mdb")
      let summary = try withStore(at: directory) { store in
        let summary = try store.backup(to: file)
        try store.writeAndWait { _ = try $0.add("later", to: .inbox) }
        return summary
      }
      #expect(try file.stat().permissions == .ownerReadWrite)
      #expect(summary.taskCount == 3 && summary.listCount == 1 && summary.completionCount == 2)
      #expect(try names(in: directory.removingLastComponent()) == ["backup.mdb", "store"])
      let restored = try TaskStore.restore(from: file, to: directory, configuration: .testing())
      #expect(try contents(at: directory) == expected)
      #expect(restored.restored.storeID == summary.storeID)
      // The contents of the replaced store can be restored.
      let kept = try #require(restored.safetyCopy)
      try TaskStore.restore(from: kept, to: directory, configuration: .testing())
      try withStore(at: directory) { (store) throws in #expect(try store.read { try $0.taskCount } == 4) }
    }
  }

  @Test func aBackupWhileOthersWriteIsOneCommit() throws {
    try withStore { store in
      let file = store.directory.removingLastComponent().appending("backup.mdb")
      let writer = Thread {
        for _ in 0..<50 {
          try? store.writeAndWait { transaction in for _ in 0..<4 { _ = try transaction.add("x", to: .today) } }
        }
      }
      writer.start()
      while !writer.isFinished {
        let summary = try store.backup(to: file)
        #expect(summary.taskCount == 4 * Int(summary.sequence))
      }
    }
  }

  @Test func restoringNeverGoesBackInTheSequence() throws {
    try withFilledStore { directory, _ in
      let file = directory.removingLastComponent().appending("backup.mdb")
      let before = try withStore(at: directory) { store in
        try store.backup(to: file)
        for _ in 0..<3 { try store.writeAndWait { _ = try $0.add("later", to: .inbox) } }
        return try store.information()
      }
      try TaskStore.restore(from: file, to: directory, configuration: .testing())
      try withStore(at: directory) { store in
        let after = try store.information()
        #expect(after.sequence == before.sequence + 1 && after.storeID == before.storeID)
      }
    }
  }

  @Test func aBackupOfAnotherStoreKeepsItsOwnSequence() throws {
    try withFilledStore { directory, _ in
      let file = directory.removingLastComponent().appending("backup.mdb")
      let summary = try withStore(at: directory.removingLastComponent().appending("other")) { try $0.backup(to: file) }
      try TaskStore.restore(from: file, to: directory, configuration: .testing())
      try withStore(at: directory) { (store) throws in
        #expect(try store.information().sequence == summary.sequence)
      }
    }
  }

  @Test func onlyAFileThatIsNotTheStoresOwnIsABackup() throws {
    try withFilledStore { directory, expected in
      let pipe = directory.removingLastComponent().appending("pipe")
      try #require(unsafe pipe.withPlatformString { unsafe mkfifo($0, 0o600) } == 0)
      for file in [pipe, directory.removingLastComponent(), directory.appending("data.mdb")] {
        let refusal = code { try TaskStore.restore(from: file, to: directory, configuration: .testing()) }
        #expect(refusal == .inputUnreadable, "\(file)")
      }
      #expect(try contents(at: directory) == expected)
    }
  }

  /// The bug: the restored store got an impossible sequence, and could not be opened.
  @Test(arguments: [true, false])
  func restoringDoesNotGoBeyondTheLastSequence(isReplacedReadable: Bool) throws {
    try withFilledStore { directory, _ in
      let file = directory.removingLastComponent().appending("backup.mdb")
      let store = try TaskStore(at: directory, configuration: .testing())
      let meta = try Database<MetaKey, StoreHeader>(opening: "meta", in: store.environment)
      if isReplacedReadable { try store.backup(to: file) }
      try store.environment.write { transaction in
        var header = try #require(try meta.value(forKey: .header, in: transaction))
        header.sequence = UInt64(Int64.max) - (isReplacedReadable ? 1 : 2)
        try meta.put(header, forKey: .header, in: &transaction)
      }
      if !isReplacedReadable { try store.backup(to: file) }
      try store.close()
      if !isReplacedReadable { try write(Array("nonsense".utf8), to: directory.appending("data.mdb")) }
      let before = try bytes(of: directory.appending("data.mdb"))
      let restored = code { try TaskStore.restore(from: file, to: directory, configuration: .testing()) }
      #expect(restored == .damagedStore)
      #expect(try bytes(of: directory.appending("data.mdb")) == before)
    }
  }

  @Test func restoringWhereNothingIsMakesAStore() throws {
    try withFilledStore { directory, expected in
      let file = directory.removingLastComponent().appending("backup.mdb")
      try withStore(at: directory) { _ = try $0.backup(to: file) }
      let new = directory.removingLastComponent().appending("a/b")
      #expect(try TaskStore.restore(from: file, to: new, configuration: .testing()).safetyCopy == nil)
      #expect(try contents(at: new) == expected)
      #expect(try new.stat().permissions == .ownerReadWriteExecute)
    }
  }

  @Test func aStoreTooDamagedToOpenIsReplaced() throws {
    try withFilledStore { directory, expected in
      let file = directory.removingLastComponent().appending("backup.mdb")
      try withStore(at: directory) { _ = try $0.backup(to: file) }
      try Data("nonsense".utf8).write(to: URL(filePath: directory.appending("data.mdb").string))
      try TaskStore.restore(from: file, to: directory, configuration: .testing())
      #expect(try contents(at: directory) == expected)
    }
  }

  @Test func aFileThatIsNoBackupIsRefusedAndTheStoreUntouched() throws {
    try withFilledStore { directory, expected in
      let file = directory.removingLastComponent().appending("backup.mdb")
      try withStore(at: directory) { _ = try $0.backup(to: file) }
      let sound = try Data(contentsOf: URL(filePath: file.string))
      for bytes in [Data(), sound.prefix(5_000), sound.dropLast(4_096), Data("no store".utf8)] {
        try bytes.write(to: URL(filePath: file.string))
        #expect { try TaskStore.restore(from: file, to: directory, configuration: .testing()) } throws: {
          ($0 as? TallyError)?.code == .damagedStore
        }
      }
      #expect(try contents(at: directory) == expected)
      #expect(try names(in: directory) == ["access.lock", "data.mdb", "lock.mdb"])
    }
  }

  /// A wrong byte inside a text may pass; one in a page's structure may not unless the contents are right, then and
  /// after further writes, and neither may harm the process.
  @Test func aByteThatIsWrongIsFoundOrHarmless() throws {
    try withFilledStore { directory, expected in
      let file = directory.removingLastComponent().appending("backup.mdb")
      try withStore(at: directory) { _ = try $0.backup(to: file) }
      let sound = try bytes(of: file)
      let metaPlaces = [10, 16, 20, 32, 40, 44, 46, 48, 88, 92, 94, 96, 104, 120, 128, 136, 144, 148]
      let (headPlaces, otherPlaces) = ([0, 10, 12, 14, 16, 18], [2_048, 4_090])
      let pages = stride(from: 8_192, to: sound.count, by: TestSize.pick(quick: 3, long: 1) * 4_096)
      let structure =
        (metaPlaces + metaPlaces.map { 4_096 + $0 }) + pages.flatMap { page in headPlaces.map { page + $0 } }
      var refusedCount = 0
      for place in structure + pages.flatMap({ page in otherPlaces.map { page + $0 } }) {
        for bits in structure.contains(place) ? [0x01, 0xFF] : [0xFF] as [UInt8] {
          var damaged = sound
          damaged[place] ^= bits
          try write(damaged, to: file)
          do {
            try TaskStore.restore(from: file, to: directory, configuration: .testing())
            let isRight = try contents(at: directory) == expected
            #expect(isRight || !structure.contains(place), "byte \(place), bits \(bits)")
            try useFurther(directory, "byte \(place), bits \(bits)")
          } catch let error as TallyError {
            #expect([.damagedStore, .newerFormat].contains(error.code), "byte \(place), bits \(bits)")
            refusedCount += 1
          }
        }
      }
      #expect(refusedCount > structure.count)
    }
  }

  /// Writes to a store that was found to be sound, which must stay so.
  private func useFurther(_ directory: FilePath, _ place: String) throws {
    let store = try TaskStore(at: directory, configuration: .testing())
    for round in 0..<3 {
      let ids = try store.writeAndWait { transaction in
        try (0..<8).map { try transaction.add("\(round) \($0) " + String(repeating: "x", count: 100), to: .today).id }
      }
      try store.writeAndWait { transaction in for id in ids.prefix(4) { try transaction.delete(id) } }
    }
    let report = try store.verify()
    #expect(report.isSound && report.taskCount >= 12, "\(place)")
    try store.close()
  }

  @Test func compactingMakesTheFileSmallerAndKeepsAllElse() throws {
    try withFilledStore { directory, _ in
      var configuration = TaskStore.Configuration.testing()
      // A log would merge both writes in one transaction, which leaves no free pages.
      configuration.makesLog = false
      let before = try withStore(at: directory, configuration) { store in
        let ids = try store.writeAndWait { transaction in
          try (0..<500).map { _ in try transaction.add(String(repeating: "x", count: 500), to: .inbox).id }
        }
        try store.writeAndWait { transaction in for id in ids { try transaction.delete(id) } }
        return try store.information()
      }
      let filled = try contents(at: directory)
      let summary = try TaskStore.compact(at: directory, configuration: .testing())
      #expect(summary.sizeInBytes < summary.sizeBeforeInBytes / 2)
      #expect(try contents(at: directory) == filled)
      try withStore(at: directory, configuration) { store in
        let after = try store.information()
        #expect(after.sequence == before.sequence && after.storeID == before.storeID)
        #expect(after.sizeInBytes == summary.sizeInBytes)
      }
    }
  }

  @Test func anOpenStoreIsNeitherCompactedNorReplaced() throws {
    try withStore { store in
      var configuration = TaskStore.Configuration.testing()
      configuration.waitLimitInSeconds = 0
      let file = store.directory.removingLastComponent().appending("backup.mdb")
      try store.backup(to: file)
      #expect { try TaskStore.compact(at: store.directory, configuration: configuration) } throws: {
        ($0 as? TallyError)?.code == .alreadyOpen
      }
      #expect { try TaskStore.restore(from: file, to: store.directory, configuration: configuration) } throws: {
        ($0 as? TallyError)?.code == .alreadyOpen
      }
    }
  }

  @Test func whoeverOpensWaitsForTheEndOfAnExclusiveUse() throws {
    try withFilledStore { directory, _ in
      var configuration = TaskStore.Configuration.testing()
      let access = try StoreAccess(.exclusive, to: directory, configuration: configuration.store)
      // Waiting itself makes time pass: the third look finds the store free.
      let waitCount = Mutex(0)
      configuration.pause = { _ in
        if waitCount.withLock({ count in
          count += 1; return count
        }) == 2 {
          access.end()
        }
      }
      let store = try TaskStore(at: directory, configuration: configuration)
      #expect(waitCount.withLock { $0 } == 2)
      try store.close()
    }
  }

  @Test func anExclusiveUseThatLastsIsNotJoined() throws {
    try withFilledStore { directory, _ in
      var configuration = TaskStore.Configuration.testing()
      configuration.waitLimitInSeconds = 0
      let exclusive = try StoreAccess(.exclusive, to: directory, configuration: configuration.store)
      #expect(code { _ = try TaskStore(at: directory, configuration: configuration) } == .storeBusy)
      exclusive.end()
      let shared = try StoreAccess(.shared, to: directory, configuration: configuration.store)
      #expect(code { _ = try StoreAccess(.exclusive, to: directory, configuration: configuration.store) } == .storeBusy)
      shared.end()
    }
  }

  /// The bug: it was reported as a failure of the storage.
  @Test(arguments: [true, false])
  func aStoreThatIsTakenAwayWhileOthersWaitForItIsMissing(isDirectoryTaken: Bool) throws {
    try withFilledStore { directory, _ in
      var configuration = try Self.takingAway(directory, andItself: isDirectoryTaken)
      configuration.createsIfMissing = false
      #expect(code { _ = try TaskStore(at: directory, configuration: configuration) } == .storeMissing)
    }
  }

  /// The bug: who was to create a store where there is none was told that there is none.
  @Test(arguments: [true, false])
  func aStoreThatIsTakenAwayWhileOthersWaitForItIsCreatedAgain(isDirectoryTaken: Bool) throws {
    try withFilledStore { directory, _ in
      let configuration = try Self.takingAway(directory, andItself: isDirectoryTaken)
      try withStore(at: directory, configuration) { (store) throws in #expect(try store.read { try $0.taskCount } == 0)
      }
    }
  }

  /// Holds a store alone, and removes it as `removeUnused` does when somebody waits for it with the result.
  private static func takingAway(
    _ directory: FilePath, andItself isDirectoryTaken: Bool
  ) throws -> TaskStore.Configuration {
    var configuration = TaskStore.Configuration.testing()
    let access = try StoreAccess(.exclusive, to: directory, configuration: configuration.store)
    configuration.pause = { _ in
      for name in (try? names(in: directory)) ?? [] { try? SystemCalls.removeFile(directory.appending(name)) }
      if isDirectoryTaken { try? SystemCalls.removeDirectory(directory) }
      access.end()
    }
    return configuration
  }

  @Test func whatACrashLeftIsAlsoRemovedByTheNextCommandOfItsKind() throws {
    try withFilledStore { directory, _ in
      let parent = directory.removingLastComponent()
      func leave(_ name: String, in parent: FilePath) throws {
        let stale = parent.appending("\(name).new-\(UUID().uuidString.lowercased())")
        try FileManager.default.createDirectory(atPath: stale.string, withIntermediateDirectories: false)
        try Data([1]).write(to: URL(filePath: stale.appending("data.mdb").string))
      }
      try leave("compact", in: directory)
      try TaskStore.compact(at: directory, configuration: .testing())
      #expect(try names(in: directory).filter { TemporaryItem.kind(of: $0) != nil } == [])
      try leave(".tally-copy", in: parent)
      try withStore(at: directory) { _ = try $0.backup(to: parent.appending("backup.mdb")) }
      #expect(try names(in: parent).filter { TemporaryItem.kind(of: $0) != nil } == [])
      try leave("new", in: parent)
      try withStore(at: parent.appending("new")) { _ in }
      #expect(try names(in: parent).filter { TemporaryItem.kind(of: $0) != nil } == [])
    }
  }

  @Test func whatACrashLeftIsRemovedAndWhatIsInTheMakingStays() throws {
    try withFilledStore { directory, _ in
      let stale = directory.appending("compact.new-\(UUID().uuidString.lowercased())")
      try FileManager.default.createDirectory(atPath: stale.string, withIntermediateDirectories: false)
      try Data([1]).write(to: URL(filePath: stale.appending("data.mdb").string))
      let live = try TemporaryItem(.directory, in: directory, for: "compact")
      try Data([1]).write(to: URL(filePath: live.dataFile.string))
      // Two that nobody has locked, however new they are, and somebody's own directory.
      let (young, old, other) = ("young.new-\(UUID().uuidString)", "old.new-\(UUID().uuidString)", "a.new-one")
      for name in [young, old, other] {
        try FileManager.default.createDirectory(
          atPath: directory.appending(name).string, withIntermediateDirectories: false)
      }
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -120)], ofItemAtPath: directory.appending(old).string)
      try Data([1]).write(to: URL(filePath: directory.appending(other).appending("data.mdb").string))
      try TaskStore(at: directory, configuration: .testing()).close()
      let left = try names(in: directory).filter { TemporaryItem.kind(of: $0) != nil }
      #expect(left == [live.path.lastComponent?.string])
      #expect(try names(in: directory.appending(other)) == ["data.mdb"])
    }
  }
}
