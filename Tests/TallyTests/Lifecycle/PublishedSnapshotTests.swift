import Foundation
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct PublishedSnapshotTests {
  @Test func aSnapshotIsOneFileThatIsReadLikeTheStoreAndRefusesWrites() async throws {
    try await withPublished { store, file in
      let snapshot = try TaskStore(snapshotAt: file, configuration: .testing())
      let views: [TaskView] = [.inbox, .today, .all, .completed(nil)]
      for view in views {
        #expect(try snapshot.read { try $0.view(view).tasks } == store.read { try $0.view(view).tasks })
      }
      #expect(try snapshot.statistics().completed == store.statistics().completed)
      #expect(try snapshot.information().storeID == store.information().storeID)
      #expect(try snapshot.information().readers.isEmpty)
      #expect(code { _ = try snapshot.writeAndWait { try $0.undo() } } == .permissionDenied)
      let error = await #expect(throws: TallyError.self) {
        try await snapshot.write { _ = try $0.add("x", to: .inbox) }
      }
      #expect(error?.code == .permissionDenied)
      try checkInvariants(of: snapshot)
      try snapshot.close()
      #expect(try names(in: file.removingLastComponent()) == ["tally"])
      #expect(try file.stat().permissions == .ownerReadWrite)
    }
  }

  @Test func theCommitThatItShowsIsTold() throws {
    try withStore { store in
      let file = store.directory.removingLastComponent().appending("tally")
      for number in 1...3 {
        try store.writeAndWait { _ = try $0.add("\(number)", to: .inbox) }
        #expect(try store.publishSnapshot(to: file) == UInt64(number))
      }
    }
  }

  @Test func anotherProcessReadsTheOlderOneWhileANewerTakesItsPlace() async throws {
    try await withPublished { store, file in
      let reader = try HelperProcess("read-snapshot", file)
      #expect(reader.line() == "2")
      try await store.write { transaction in for _ in 0..<500 { _ = try transaction.add("later", to: .inbox) } }
      for _ in 0..<3 { try store.publishSnapshot(to: file) }
      reader.release()
      #expect(reader.lines() == ["2 true"])
      let newer = try HelperProcess("read-snapshot", file)
      #expect(newer.line() == "502")
      newer.release()
      #expect(newer.lines() == ["502 true"])
    }
  }

  @Test func whoeverOpensItMeanwhileGetsTheOldOrTheNewAsAWhole() throws {
    try withStore { store in
      let file = store.directory.removingLastComponent().appending("tally")
      try store.publishSnapshot(to: file)
      let openers = try (0..<2).map { _ in try HelperProcess("open-snapshots", file, 60) }
      for _ in 0..<60 {
        try store.writeAndWait { _ = try $0.add("x", to: .inbox) }
        try store.publishSnapshot(to: file)
      }
      for opener in openers { #expect(opener.lines() == ["saw 60"]) }
    }
  }

  @Test func itIsReadWhereNothingCanBeWritten() async throws {
    try await withPublished { _, file in
      let directory = file.removingLastComponent()
      // The reader drops its privileges, if it has any, and owns both.
      for path in [file, directory] where getuid() == 0 {
        try setAttributes([.ownerAccountID: 65_534, .groupOwnerAccountID: 65_534], of: path)
      }
      // The directory above need only be searchable.
      try setAttributes([.posixPermissions: 0o711], of: directory.removingLastComponent())
      try setAttributes([.posixPermissions: 0o500], of: directory)
      defer { try? setAttributes([.posixPermissions: 0o700], of: directory) }
      let reader = try HelperProcess("read-snapshot", file, 1)
      #expect(reader.line() == "2")
      reader.release()
      #expect(reader.lines() == ["2 true"])
      #expect(try names(in: directory) == ["tally"])
    }
  }

  @Test func aSnapshotThatIsResumedIsTheNewestAndObserversFollow() async throws {
    try await withPublished { store, file in
      let snapshot = try TaskStore(snapshotAt: file, configuration: .testing())
      var updates = snapshot.observe(.inbox).makeAsyncIterator()
      guard case .snapshot(let view) = try await updates.next() else { throw NoUpdate() }
      try await store.write { _ = try $0.add("later", to: .inbox) }
      try store.publishSnapshot(to: file)
      #expect(try snapshot.read { try $0.view(.inbox).tasks } == view.tasks)
      try snapshot.suspend()
      try snapshot.resume()
      guard case .difference(let difference) = try await updates.next() else { throw NoUpdate() }
      #expect(difference.insertions.map(\.task.title) == ["later"])
      #expect(snapshot.observationCounts.viewReadCount == 1)
      try snapshot.close()
    }
  }

  @Test func aBackupIsReadWithoutRestoringIt() throws {
    try withStore { store in
      try store.writeAndWait { _ = try $0.add("backed up", to: .inbox) }
      let file = store.directory.removingLastComponent().appending("backup")
      try store.backup(to: file)
      let backup = try TaskStore(snapshotAt: file, configuration: .testing())
      #expect(try backup.read { try $0.view(.inbox).tasks.map(\.title) } == ["backed up"])
      try backup.close()
    }
  }

  @Test func whatIsNoSnapshotIsRefusedAndLeftAlone() throws {
    try withTemporaryDirectory { directory in
      let file = directory.appending("tally")
      let open = { _ = try TaskStore(snapshotAt: file, configuration: .testing()) }
      #expect(code(open) == .storeMissing)
      try write([], to: file)
      #expect(code(open) == .damagedStore)
      try write(Array("no store at all, but long enough to be looked at".utf8), to: file)
      #expect(code(open) == .notAStore)
      try FileManager.default.removeItem(atPath: file.string)
      try FileManager.default.createDirectory(atPath: file.string, withIntermediateDirectories: false)
      #expect(code(open) == .notAStore)
      #expect(try names(in: directory) == ["tally"])
    }
  }

  /// The bug: the process was aborted when a writer used pages again that the snapshot had mapped.
  @Test func theFileOfAStoreIsNoSnapshotByAnyName() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try withStore(at: path) { store in
        let file = path.appending("data.mdb")
        let (symbolic, hard) = (directory.appending("symbolic"), path.appending("hard"))
        try FileManager.default.createSymbolicLink(atPath: symbolic.string, withDestinationPath: file.string)
        try FileManager.default.linkItem(atPath: file.string, toPath: hard.string)
        for name in [file, symbolic, hard] {
          #expect(code { _ = try TaskStore(snapshotAt: name, configuration: .testing()) } == .notAStore)
        }
        try FileManager.default.removeItem(atPath: hard.string)
      }
      #expect(
        code { _ = try TaskStore(snapshotAt: path.appending("data.mdb")) } == .notAStore, "closed, but not for good")
    }
  }

  @Test func aSnapshotMayHaveTheNameOfAStoresFile() async throws {
    try await withPublished { (store, file) async throws in
      let named = file.removingLastComponent().appending("data.mdb")
      try store.publishSnapshot(to: named)
      let snapshot = try TaskStore(snapshotAt: named, configuration: .testing())
      #expect(try snapshot.read { try $0.taskCount } == 2)
      try snapshot.close()
    }
  }

  @Test func aSnapshotThatCannotBePutInPlaceLeavesTheOlderOne() async throws {
    try await withPublished { (store, file) async throws in
      let before = try names(in: store.directory)
      let pipe = store.directory.removingLastComponent().appending("pipe")
      try makePipe(pipe)
      #expect(code { try store.publishSnapshot(to: pipe) } == .outputNotCreated)
      #expect(code { try store.publishSnapshot(to: file.appending("x")) } == .outputNotCreated)
      for name in ["data.mdb", "lock.mdb", "access.lock"] {
        #expect(code { try store.publishSnapshot(to: store.directory.appending(name)) } == .outputNotCreated)
        #expect(code { _ = try store.backup(to: store.directory.appending(name)) } == .outputNotCreated)
      }
      #expect(try names(in: file.removingLastComponent()) == ["tally"])
      #expect(try names(in: store.directory) == before)
    }
  }

  /// A store with two tasks, and its snapshot in a directory of its own.
  private func withPublished(_ body: (TaskStore, FilePath) async throws -> Void) async throws {
    try await withStore { store in
      try await store.write { transaction in
        _ = try transaction.add("open", to: .inbox)
        _ = try transaction.complete(try transaction.add("done", to: .today).id)
      }
      let directory = store.directory.removingLastComponent().appending("shared")
      try FileManager.default.createDirectory(atPath: directory.string, withIntermediateDirectories: false)
      let file = directory.appending("tally")
      try store.publishSnapshot(to: file)
      try await body(store, file)
    }
  }

  private func setAttributes(_ attributes: [FileAttributeKey: Int], of path: FilePath) throws {
    try FileManager.default.setAttributes(attributes, ofItemAtPath: path.string)
  }

  private struct NoUpdate: Error {}
}
