import Foundation
import LMDB
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

/// A data file whose end is missing: reading a page that is not there would kill the process.
@Suite struct TruncatedFileTests {
  /// Every page is cut off in turn, and some lengths between; free pages lie among those in use.
  @Test func aFileCutAnywhereIsRefusedOrWhole() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try withStore(at: path) { store in try fill(store) }
      let file = path.appending("data.mdb")
      let whole = try bytes(of: file)
      var lengths = Array(stride(from: 0, to: whole.count, by: 4_096)) + [1, 100, 152, 4_095, 8_191]
      lengths += stride(from: 5_000, to: whole.count, by: 49_999)
      for length in lengths {
        try write(Array(whole.prefix(length)), to: file)
        expectRefusalOrAllTasks(at: path, length: length)
      }
      try write(whole, to: file)
      #expect(try taskCount(at: path) == 100)
    }
  }

  /// The bug: liblmdb takes the size of a page from the newer of the first two pages and uses it to find the second; a
  /// flipped bit there, which only the second page had, sent it beyond the file's end and killed the process.
  @Test func aSecondPageWithAnotherPageSizeIsRefused() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try withStore(at: path) { store in try fill(store) }
      let file = path.appending("data.mdb")
      var damaged = try bytes(of: file)
      // Its third lowest byte, so that a page has 1 MiB and more.
      damaged[4_096 + 42] ^= 0x10
      try write(damaged, to: file)
      #expect(code { _ = try TaskStore.verify(at: path, configuration: .testing()) } == .damagedStore)
      #expect(code { try TaskStore(at: path, configuration: .testing()).close() } == .damagedStore)
      #expect(try bytes(of: file) == damaged)
    }
  }

  private func fill(_ store: TaskStore) throws {
    var ids: [UUID] = []
    for round in 0..<20 {
      try store.writeAndWait { transaction in
        for number in 0..<10 { ids.append(try transaction.add("\(round) \(number) " + longText, to: .today).id) }
      }
    }
    for id in ids.suffix(150).prefix(100) { try store.writeAndWait { _ = try $0.delete(id) } }
  }

  /// The bug: pages allocated and freed within one transaction are counted and never written, so that the file of a
  /// sound store may end before its last page; it was refused as damaged.
  @Test func aStoreWhoseLastPagesWereNeverWrittenOpens() throws {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      var shortCount = 0
      for round in 1...60 where shortCount < 3 {
        try withStore(at: path) { _ in }
        // Through the binding, as the engine writes more than it frees: each change adds to the undo log.
        try change("tasks", at: path) { table, transaction in
          let keys = (0..<round * 41).map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
          for key in keys { try table.put(Array(longText.utf8), forKey: key, in: &transaction) }
          for key in keys.reversed() { _ = try table.remove(forKey: key, in: &transaction) }
        }
        try withStore(at: path) { store in
          let information = try store.information()
          if information.sizeInBytes < information.usedMapSizeInBytes { shortCount += 1 }
        }
      }
      try #require(shortCount == 3, "the test must produce what it tests")
      #expect(try taskCount(at: path) == 0)
    }
  }

  private let longText = String(repeating: "x", count: 300)

  /// The last pages may be free ones: then nothing is missing.
  private func expectRefusalOrAllTasks(at path: FilePath, length: Int) {
    do {
      let store = try TaskStore(at: path, configuration: .testing())
      #expect(try store.read { try $0.view(.today).tasks.count } == 100)
      try checkInvariants(of: store)
      try store.close()
    } catch {
      #expect((error as? TallyError)?.code == .damagedStore, "cut to \(length) bytes: \(error)")
    }
  }
}
