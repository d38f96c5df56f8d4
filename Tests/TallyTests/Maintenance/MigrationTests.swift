import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// The migration from one format to the next, with a step that no release has: it writes one more record into `meta`.
@Suite struct MigrationTests {
  private static let next = MigrationTable(current: 2, steps: [1: leaveMark])

  private static let leaveMark: MigrationTable.Step = { transaction in
    let meta = try RawTable(opening: "meta", creating: false, in: &transaction)
    try meta.put([2], forKey: Array("step".utf8), in: &transaction)
  }

  @Test func anOlderStoreIsMigratedAndKeptAsItWas() throws {
    try withFilledStore { directory, expected in
      let store = try TaskStore(at: directory, configuration: .testing(), migrations: Self.next)
      #expect(try store.read { try $0.header().majorFormat } == 2)
      #expect(try store.verify().isSound)
      try store.close()
      #expect(try contents(at: directory) == expected)
      #expect(try value(of: "meta", forKey: Array("step".utf8), at: directory) == [2])
      let kept = try #require(try names(in: directory).first(where: KeptFile.isKept))
      let old = directory.removingLastComponent().appending("old")
      try TaskStore.restore(from: directory.appending(kept), to: old, configuration: .testing())
      #expect(try contents(at: old) == expected)
    }
  }

  @Test func aBackupOfAnOlderFormatIsMigratedBeforeItIsChecked() throws {
    let doubled = MigrationTable(
      current: 2,
      steps: [
        1: { transaction in
          let tasks = try RawTable(opening: "tasks", creating: false, in: &transaction)
          #expect(try tasks.count(in: transaction) > 0)
          try Self.leaveMark(&transaction)
        }
      ])
    try withFilledStore { directory, expected in
      let backup = directory.removingLastComponent().appending("backup")
      let store = try TaskStore(at: directory, configuration: .testing())
      let before = try store.backup(to: backup)
      try store.close()
      let target = directory.removingLastComponent().appending("restored")
      let opening = StoreOpening(directory: target, configuration: .testing(), migrations: doubled)
      let summary = try TaskStore.restore(from: backup, to: opening)
      #expect(summary.restored.sequence == before.sequence + 1)
      #expect(try value(of: "meta", forKey: Array("step".utf8), at: target) == [2])
      #expect(try contents(at: target) == expected)
      // Nothing is left to migrate, so nothing is kept.
      try TaskStore(at: target, configuration: .testing(), migrations: doubled).close()
      #expect(try !names(in: target).contains(where: KeptFile.isKept))
    }
  }

  @Test func aMigratedStoreIsRefusedByTheOlderVersion() throws {
    try withFilledStore { directory, _ in
      try TaskStore(at: directory, configuration: .testing(), migrations: Self.next).close()
      let bytes = try Data(contentsOf: URL(filePath: directory.appending("data.mdb").string))
      #expect { try TaskStore(at: directory, configuration: .testing()) } throws: {
        ($0 as? TallyError)?.code == .newerFormat
      }
      #expect(try Data(contentsOf: URL(filePath: directory.appending("data.mdb").string)) == bytes)
    }
  }

  @Test func aStepThatFailsLeavesTheStoreAsItWas() throws {
    try withFilledStore { directory, expected in
      let failing = MigrationTable(
        current: 3,
        steps: [
          1: Self.leaveMark,
          2: { _ in throw TallyError(.internalFault, "a step failed", remedy: "none") },
        ])
      #expect(throws: TallyError.self) {
        try TaskStore(at: directory, configuration: .testing(), migrations: failing)
      }
      #expect(try value(of: "meta", forKey: Array("step".utf8), at: directory) == nil)
      #expect(try contents(at: directory) == expected)
      try TaskStore(at: directory, configuration: .testing()).close()
    }
  }

  @Test func aReaderDoesNotMigrate() throws {
    try withFilledStore { directory, _ in
      var configuration = TaskStore.Configuration.testing()
      configuration.isReadOnly = true
      #expect { try TaskStore(at: directory, configuration: configuration, migrations: Self.next) } throws: {
        ($0 as? TallyError)?.code == .permissionDenied
      }
    }
  }
}
