import Foundation
import SystemPackage
import TallyEngine
import TallySystem
import TallyTestSupport
import Testing

@testable import Tally

/// Nothing but a store writes the files of a store, and a store writes no file elsewhere.
@Suite struct StoreFilesTests {
  private static let ownNames = ["data.mdb", "lock.mdb", "access.lock", "log", "log.lock"]

  /// The bug: an export or a page took the place of the store's own file, and the store was gone.
  @Test(arguments: ownNames) func noOutputTakesThePlaceOfAFileOfAStore(name: String) throws {
    try withFilledStore { directory, expected in
      let parent = directory.removingLastComponent()
      let (link, linkedDirectory) = (parent.appending("link"), parent.appending("linked"))
      let otherName = parent.appending("other name")
      try FileManager.default.createSymbolicLink(
        atPath: link.string, withDestinationPath: directory.appending(name).string)
      try FileManager.default.createSymbolicLink(
        atPath: linkedDirectory.string, withDestinationPath: directory.string)
      try withStore(at: directory) { store in
        try FileManager.default.linkItem(atPath: directory.appending(name).string, toPath: otherName.string)
        let inside = directory.appending("..").appending("store").appending(name)
        for path in [directory.appending(name), inside, link, linkedDirectory.appending(name)] {
          #expect(code { try AtomicFile.create(replacing: path).commit() } == .outputNotCreated, "\(path)")
          #expect(code { _ = try store.export(to: path) } == .outputNotCreated, "\(path)")
          #expect(code { _ = try store.backup(to: path) } == .outputNotCreated, "\(path)")
          #expect(code { _ = try store.publishSnapshot(to: path) } == .outputNotCreated, "\(path)")
        }
        #expect(StoreFiles.contain(otherName, ofStoreAt: directory))
        #expect(!StoreFiles.contain(parent.appending(name), ofStoreAt: directory))
      }
      #expect(try contents(at: directory) == expected)
    }
  }

  /// The bug: it was copied over itself, while others might write it.
  @Test func aStoreIsNotRestoredFromItsOwnFile() throws {
    try withFilledStore { directory, _ in
      let file = directory.appending("data.mdb")
      let before = try bytes(of: file)
      for path in [file, directory.appending("..").appending("store").appending("data.mdb")] {
        #expect(
          code { _ = try TaskStore.restore(from: path, to: directory, configuration: .testing()) } == .inputUnreadable)
      }
      #expect(try bytes(of: file) == before)
      #expect(try names(in: directory).filter(SafetyCopy.isSafetyCopy).isEmpty)
    }
  }

  /// The bugs: liblmdb wrote its locks into the file that a link led to, compacting put a file in the place of a link to
  /// the data, and opening a pipe in place of the lock waited for ever.
  @Test(arguments: ownNames) func aLinkOrPipeInPlaceOfAFileIsRefused(name: String) throws {
    try withFilledStore { directory, _ in
      let target = directory.removingLastComponent().appending("target")
      let path = directory.appending(name)
      if try names(in: directory).contains(name) {
        try FileManager.default.moveItem(atPath: path.string, toPath: target.string)
      } else {
        try write([1, 2, 3], to: target)
      }
      let before = try bytes(of: target)
      let makers: [() throws -> Void] = [
        { try FileManager.default.createSymbolicLink(atPath: path.string, withDestinationPath: target.string) },
        { #expect(unsafe mkfifo(path.string, 0o600) == 0) },
        { try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: false) },
      ]
      for make in makers {
        try make()
        expectRefusal(at: directory)
        try FileManager.default.removeItem(atPath: path.string)
      }
      #expect(try bytes(of: target) == before)
    }
  }

  private func expectRefusal(at directory: FilePath) {
    var reading = TaskStore.Configuration.testing()
    reading.isReadOnly = true
    #expect(code { try TaskStore(at: directory, configuration: .testing()).close() } == .notAStore)
    #expect(code { try TaskStore(at: directory, configuration: reading).close() } == .notAStore)
    #expect(code { _ = try TaskStore.compact(at: directory, configuration: .testing()) } == .notAStore)
    #expect(code { _ = try TaskStore.repair(at: directory, configuration: .testing()) } == .notAStore)
    #expect(code { _ = try TaskStore.verify(at: directory, configuration: .testing()) } == .notAStore)
  }
}
