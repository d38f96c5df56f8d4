import Foundation
import SystemPackage
import TallySystem
import TallyTestSupport
import Testing

@testable import Tally

struct AtomicFileTests {
  @Test func theOldFileStandsUntilTheCommit() throws {
    try withTemporaryDirectory { (directory: FilePath) throws in
      let target = directory.appending("out")
      try write("old", to: target)
      let file = try AtomicFile.create(replacing: target)
      try file.descriptor.writeAll("new".utf8)
      #expect(try read(target) == "old")
      try file.commit()
      #expect(try read(target) == "new")
      #expect(try names(in: directory) == ["out"])
    }
  }

  @Test func withoutACommitNothingIsLeft() throws {
    try withTemporaryDirectory { (directory: FilePath) throws in
      try writeWithoutCommit(to: directory.appending("out"))
      #expect(try names(in: directory) == [])
      try write("old", to: directory.appending("out"))
      try writeWithoutCommit(to: directory.appending("out"))
      #expect(try names(in: directory) == ["out"])
      #expect(try read(directory.appending("out")) == "old")
    }
  }

  /// The bug: an export that was killed left its tasks in a file that nobody removed, at least for a minute.
  @Test func whatAKilledExportLeftIsRemovedAndWhatIsInTheMakingStays() throws {
    try withTemporaryDirectory { (directory: FilePath) throws in
      let (orphan, live) = (".tally-export-old.tmp", ".tally-export-live.tmp")
      for name in [orphan, live, ".import-\(UUID().uuidString.lowercased()).tmp"] + Self.othersNames {
        try write("tasks", to: directory.appending(name))
      }
      let lock = try FileLock(opening: directory.appending(live))
      try #require(try lock.tryAcquire(.exclusive))
      let folder = directory.appending(".tally-export-folder.tmp")
      try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: false)
      try AtomicFile.create(replacing: directory.appending("out")).commit()
      #expect(try Set(names(in: directory)) == Set([live, "out", ".tally-export-folder.tmp"] + Self.othersNames))
      lock.release()
    }
  }

  /// Names that only look like those of temporary files.
  private static let othersNames = [
    ".tally-export-x.json", ".tally-export-.tmp", ".tally-export-My notes.tmp", ".tally-export-ABC.tmp", "a.tmp",
    ".tally-export-zzzzzzzzzzzzzzzz.tmp", "tally-export-old.tmp", ".import-1.tmp",
  ]

  /// Making an item of any kind removes orphans of every kind.
  @Test func whateverWritesToADirectoryRemovesTheOrphansThere() throws {
    try withStore { store in
      try withTemporaryDirectory { (directory: FilePath) throws in
        let steps: [(String, () throws -> Void)] = [
          ("export", { _ = try store.export(to: directory.appending("out.json")) }),
          ("backup", { _ = try store.backup(to: directory.appending("out.mdb")) }),
          ("new store", { try withStore(at: directory.appending("new")) { _ in } }),
          ("temporary item", { _ = try TemporaryItem(.file, in: directory) }),
        ]
        for (name, step) in steps {
          let live = try TemporaryItem(.directory, in: directory, for: "live")
          try write("tasks", to: live.path.appending("data.mdb"))
          try write("tasks", to: directory.appending(".tally-export-1x.tmp"))
          for orphan in [".tally-copy", "store"] {
            let path = directory.appending("\(orphan).new-\(UUID().uuidString)")
            let inner = path.appending("inner.new-\(UUID().uuidString)")
            try FileManager.default.createDirectory(atPath: inner.string, withIntermediateDirectories: true)
            for file in ["data.mdb", "lock.mdb", "access.lock"] { try write("tasks", to: path.appending(file)) }
          }
          // As a temporary store is one.
          let temporary = directory.appending("tally.new-\(UUID().uuidString)/store")
          try FileManager.default.createDirectory(atPath: temporary.string, withIntermediateDirectories: true)
          for file in ["data.mdb", "lock.mdb", "access.lock"] { try write("tasks", to: temporary.appending(file)) }
          let other = directory.appending("mine.new-\(UUID().uuidString)")
          let linking = directory.appending("linking.new-\(UUID().uuidString)")
          try FileManager.default.createDirectory(atPath: linking.string, withIntermediateDirectories: false)
          try FileManager.default.createSymbolicLink(
            atPath: linking.appending("store").string, withDestinationPath: live.path.string)
          try FileManager.default.createDirectory(atPath: other.string, withIntermediateDirectories: false)
          for file in ["data.mdb", "letter.txt"] { try write("kept", to: other.appending(file)) }
          try step()
          let left = try names(in: directory).filter { TemporaryItem.kind(of: $0) != nil }
          #expect(Set(left) == Set([live.path, other, linking].compactMap { $0.lastComponent?.string }), "\(name)")
          #expect(try names(in: live.path) == ["data.mdb"], "\(name)")
          #expect(try Set(names(in: other)) == ["data.mdb", "letter.txt"], "\(name)")
          for kept in [other, linking] { try FileManager.default.removeItem(atPath: kept.string) }
        }
      }
    }
  }

  /// The bug: whoever made a directory, as for a new store, failed if a sweep removed it before it was locked.
  @Test func itemsAreMadeWhileOthersSweep() async throws {
    let directory = FilePath(FileManager.default.temporaryDirectory.path).appending("sweep-\(UUID().uuidString)")
    try FileManager.default.createDirectory(atPath: directory.string, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: directory.string) }
    let isDone = Shared(false)
    let sweepers = (0..<2).map { _ in
      startThread { while !isDone.withLock({ $0 }) { TemporaryItem.sweep(directory) } }
    }
    let makers = (0..<2).map { maker in
      startThread {
        for number in 0..<200 {
          let item = try TemporaryItem(number.isMultiple(of: 8) ? .file : .directory, in: directory, for: "\(maker)")
          #expect((try? item.path.stat()) != nil, "an item in the making was removed")
        }
      }
    }
    var results: [Result<Void, any Error>] = []
    for maker in makers { results.append(await maker.result) }
    isDone.withLock { $0 = true }
    for sweeper in sweepers { try await sweeper.value }
    for result in results { try result.get() }
    #expect(try names(in: directory) == [])
  }

  /// Its creator holds a lock on it, so that another export, however much later, does not remove it.
  @Test func aFileInTheMakingIsLocked() throws {
    try withTemporaryDirectory { (directory: FilePath) throws in
      let file = try AtomicFile.create(replacing: directory.appending("out"))
      let name = try #require(try names(in: directory).first)
      try FileManager.default.setAttributes(
        [.modificationDate: Date.distantPast], ofItemAtPath: directory.appending(name).string)
      try AtomicFile.create(replacing: directory.appending("other")).commit()
      try file.commit()
      #expect(try names(in: directory) == ["other", "out"])
    }
  }

  @Test func onlyTheOwnerMayReadTheFileWhateverTheOldOneAllowed() throws {
    try withTemporaryDirectory { (directory: FilePath) throws in
      let target = directory.appending("out")
      try write("old", to: target)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: target.string)
      try AtomicFile.create(replacing: target).commit()
      #expect(try target.stat().permissions == .ownerReadWrite)
    }
  }

  /// A pipe stands for devices: a broken program that runs as root would replace a real one.
  @Test func directoriesAndDevicesAreNotReplaced() throws {
    try withTemporaryDirectory { (directory: FilePath) throws in
      let (link, pipe) = (directory.appending("link"), directory.appending("pipe"))
      try makePipe(pipe)
      try FileManager.default.createSymbolicLink(atPath: link.string, withDestinationPath: pipe.string)
      for target in [directory, link, pipe, "/", "", "..", directory.appending("..")] as [FilePath] {
        let error = #expect(throws: TallyError.self) { try AtomicFile.create(replacing: target).commit() }
        #expect(error?.code == .outputNotCreated, "\(target)")
      }
      for target in ["", directory.appending("none").appending("..")] as [FilePath] {
        #expect(throws: AtomicFile.NotAFile.self) { try AtomicFile.requireReplaceable(target) }
      }
      #expect(try names(in: directory) == ["link", "pipe"])
      #expect(try pipe.stat().type == .fifo)
    }
  }

  @Test func missingDirectoriesAreAnError() throws {
    try withTemporaryDirectory { (directory: FilePath) throws in
      let error = #expect(throws: TallyError.self) {
        try AtomicFile.create(replacing: directory.appending("none").appending("out")).commit()
      }
      #expect(error?.code == .outputNotCreated)
    }
  }

  @Test func aLinkIsReplacedAndNotFollowed() throws {
    try withTemporaryDirectory { (directory: FilePath) throws in
      try write("kept", to: directory.appending("file"))
      let link = directory.appending("link")
      try FileManager.default.createSymbolicLink(atPath: link.string, withDestinationPath: "file")
      try AtomicFile.create(replacing: link).commit()
      #expect(try read(directory.appending("file")) == "kept")
      #expect(try link.stat(followTargetSymlink: false).type == .regular)
    }
  }

  @Test func namesAsLongAsTheFilesystemTakesWork() throws {
    try withTemporaryDirectory { (directory: FilePath) throws in
      let target = directory.appending(String(repeating: "n", count: 255))
      try AtomicFile.create(replacing: target).commit()
      #expect(try target.stat().type == .regular)
    }
  }

  @Test func fullDisksAreNamed() {
    #expect(TallyError.unwritableOutput(Errno.noSpace).code == .diskFull)
    #expect(TallyError.unwritableOutput(Errno.diskQuotaExceeded).code == .diskFull)
    #expect(TallyError.unwritableOutput(Errno.permissionDenied).code == .outputNotCreated)
  }
}

extension AtomicFileTests {
  private func writeWithoutCommit(to target: FilePath) throws {
    let file = try AtomicFile.create(replacing: target)
    try file.descriptor.writeAll("new".utf8)
  }

  private func write(_ text: String, to path: FilePath) throws {
    try Data(text.utf8).write(to: URL(filePath: path.string))
  }

  private func read(_ path: FilePath) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path.string)), as: UTF8.self)
  }

  private func names(in directory: FilePath) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.string).sorted()
  }
}
