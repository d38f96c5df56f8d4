import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallyTestSupport
import Testing

@testable import Tally

/// Paths with anything other than a whole store of a known format: refused and unchanged.
@Suite struct ForeignFileTests {
  @Test func aFileIsNoStore() throws {
    try withTemporaryDirectory { directory in
      let file = directory.appending("notes.txt")
      try write(Array("keep me".utf8), to: file)
      #expect(openingCode(file) == .notAStore)
      #expect(openingCode(file.appending("below")) == .notAStore)
      #expect(try bytes(of: file) == Array("keep me".utf8))
    }
  }

  @Test func aDirectoryWithOtherFilesIsNoStore() throws {
    try withTemporaryDirectory { directory in
      try write(Array("keep me".utf8), to: directory.appending("notes.txt"))
      #expect(openingCode(directory) == .notAStore)
      #expect(try names(in: directory) == ["notes.txt"])
    }
  }

  /// The bug: no store could be created in a directory that somebody had opened on a Mac.
  @Test(arguments: [
    [".DS_Store"], ["Thumbs.db", "desktop.ini"], [".directory", "lost+found"],
    [".stfolder", ".stignore", ".stversions"],
    ["._notes", ".localized"], ["THUMBS.DB"], [".Trash-1000", ".dropbox"],
    ["$RECYCLE.BIN", "System Volume Information"],
  ])
  func whatSystemsPutIntoDirectoriesIsNoOtherFile(clutter: [String]) throws {
    try withTemporaryDirectory { directory in
      for name in clutter {
        let path = directory.appending(name).string
        if [".stfolder", "lost+found", "$RECYCLE.BIN", ".Trash-1000"].contains(name) {
          try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        } else {
          try write(Array("kept".utf8), to: directory.appending(name))
        }
      }
      try withStore(at: directory) { store in _ = try store.writeAndWait { try $0.add("a", to: .inbox) } }
      let all = try Set(names(in: directory))
      #expect(all.isSuperset(of: clutter))
      try TaskStore.remove(at: directory)
      #expect(try Set(names(in: directory)) == Set(clutter))
      try write(Array("keep me".utf8), to: directory.appending("notes.txt"))
      #expect(openingCode(directory) == .notAStore)
    }
  }

  @Test func aDirectoryInPlaceOfTheFileIsNoStore() throws {
    try withTemporaryDirectory { directory in
      let inner = directory.appending("data.mdb")
      try FileManager.default.createDirectory(atPath: inner.string, withIntermediateDirectories: false)
      #expect(openingCode(directory) == .notAStore)
    }
  }

  @Test func aForeignEnvironmentIsNoStore() throws {
    try withTemporaryDirectory { directory in
      try makeEnvironment(in: directory, table: "theirs")
      let before = try bytes(of: directory.appending("data.mdb"))
      #expect(openingCode(directory) == .notAStore)
      #expect(try bytes(of: directory.appending("data.mdb")) == before)
    }
  }

  @Test func aForeignEnvironmentWithATableOfTheSameNameIsNoStore() throws {
    try withTemporaryDirectory { directory in
      try makeEnvironment(in: directory, table: "meta")
      let before = try bytes(of: directory.appending("data.mdb"))
      #expect(openingCode(directory) == .notAStore)
      #expect(try bytes(of: directory.appending("data.mdb")) == before)
    }
  }

  @Test(arguments: [17, 152, 4_096, 8_192, 50_000])
  func aFileOfOtherBytesIsNoStore(byteCount: Int) throws {
    try withTemporaryDirectory { directory in
      let garbage = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }
      try write(garbage, to: directory.appending("data.mdb"))
      #expect(openingCode(directory) == .notAStore)
      #expect(try bytes(of: directory.appending("data.mdb")) == garbage)
    }
  }

  @Test func anEmptyFileIsADamagedStoreAndStaysEmpty() throws {
    try withTemporaryDirectory { directory in
      try write([], to: directory.appending("data.mdb"))
      #expect(openingCode(directory) == .damagedStore)
      #expect(try bytes(of: directory.appending("data.mdb")).isEmpty)
    }
  }

  @Test func aNewerMajorFormatIsRefusedUntouched() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try reopen(path)
      try changeHeader(at: path) { $0.majorFormat = StoreHeader.currentMajorFormat + 1 }
      let before = try bytes(of: path.appending("data.mdb"))
      #expect(openingCode(path) == .newerFormat)
      #expect(try bytes(of: path.appending("data.mdb")) == before)
    }
  }

  @Test func aNewerMinorFormatOpensAndStaysNewer() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try reopen(path)
      try changeHeader(at: path) { $0.minorFormat = 7 }
      try withStore(at: path) { store in
        try store.writeAndWait { _ = try $0.add("second", to: .inbox) }
        #expect(try store.information().format == "2.7")
      }
    }
  }

  private func openingCode(_ path: FilePath) -> TallyError.Code? {
    code { try TaskStore(at: path, configuration: .testing()).close() }
  }

  private func makeEnvironment(in directory: FilePath, table: String) throws {
    let environment = try LMDBEnvironment(path: directory)
    try environment.write { transaction in
      let database = try Database<[UInt8], [UInt8]>(opening: table, creating: true, in: &transaction)
      try database.put([1, 2, 3], forKey: [9], in: &transaction)
    }
    try environment.close()
  }

  private func changeHeader(at path: FilePath, _ change: (inout StoreHeader) -> Void) throws {
    let environment = try LMDBEnvironment(path: path)
    try environment.write { transaction in
      let meta = try Database<MetaKey, StoreHeader>(opening: "meta", creating: false, in: &transaction)
      var header = try #require(try meta.value(forKey: .header, in: transaction))
      change(&header)
      try meta.put(header, forKey: .header, in: &transaction)
    }
    try environment.close()
  }
}
