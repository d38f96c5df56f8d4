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

  /// The bug: an export that was killed left its tasks in a file that nobody ever removed.
  @Test func whatAKilledExportLeftIsRemovedAndWhatIsInTheMakingStays() throws {
    try withTemporaryDirectory { (directory: FilePath) throws in
      let (old, new) = (directory.appending(".tally-export-old.tmp"), directory.appending(".tally-export-new.tmp"))
      let (live, other) = (directory.appending(".tally-export-live.tmp"), directory.appending(".tally-export-x.json"))
      for path in [old, new, live, other] { try write("tasks", to: path) }
      let lock = try FileLock(opening: live)
      try #require(try lock.tryAcquire(.exclusive))
      for path in [old, live, other] {
        try FileManager.default.setAttributes([.modificationDate: Date.distantPast], ofItemAtPath: path.string)
      }
      try AtomicFile.create(replacing: directory.appending("out")).commit()
      let left = [".tally-export-live.tmp", ".tally-export-new.tmp", ".tally-export-x.json", "out"]
      #expect(try names(in: directory) == left)
      lock.release()
    }
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
