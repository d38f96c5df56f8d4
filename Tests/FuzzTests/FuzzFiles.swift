import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallyTestSupport

@testable import Tally
@testable import TallyCommands

/// The files of a small store, to be changed before they are read.
///
/// An input is a row of changes of four bytes each: three say where, modulo the size, and one is
/// combined with the byte there by exclusive or.
/// So most of the file stays what its readers expect, and inputs are short.
final class FuzzFiles: Sendable {
  private let directory: FilePath
  private let data: [UInt8]
  private let history: [[UInt8]]

  /// One per process.
  static var shared: FuzzFiles { get throws { try made.get() } }

  private static let made = Result { try FuzzFiles() }

  private init() throws {
    directory = FilePath(FileManager.default.temporaryDirectory.path).appending("tally-fuzz-\(UUID().uuidString)")
    let store = try TaskStore(at: directory.appending("sample"), configuration: .testing())
    try Self.fill(store)
    history = try store.read { snapshot in
      var rows: [[UInt8]] = []
      var cursor = try snapshot.tables.history.cursor(in: snapshot.base)
      var isAtEntry = try cursor.moveToLast()
      while isAtEntry {
        rows.append(cursor.valueBytes.bytes(from: 0))
        isAtEntry = try cursor.previous()
      }
      return rows
    }
    try store.close()
    let file = directory.appending("sample").appending("data.mdb")
    data = Array(try Data(contentsOf: URL(fileURLWithPath: file.string)))
    try FileManager.default.createDirectory(
      atPath: directory.appending("store").string, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: directory.string)
  }

  /// Trees of some levels, values on pages of their own, free pages, and images of every kind.
  private static func fill(_ store: TaskStore) throws {
    func id(_ number: Int) -> UUID { UUID(high: 0, low: UInt64(number)) }
    for round in 0..<4 {
      try store.writeAndWait { transaction in
        for number in 0..<60 {
          let notes = number % 20 == 0 ? String(repeating: "note ", count: 1_500) : nil
          try transaction.add("task \(number)", id: id(100 * round + number)) { $0.notes = notes }
        }
        try transaction.addList(name: "list", id: id(1_000 + round))
      }
    }
    try store.writeAndWait { transaction in
      for number in 0..<40 { try transaction.delete(id(number)) }
      try transaction.complete(id(101))
      try transaction.delete(id(101))
      try transaction.saveFilter(.is(.open), as: "Open")
    }
    try store.writeAndWait { transaction in
      try transaction.complete(id(102))
      try transaction.renameList(id(1_000), to: "renamed")
      try transaction.deleteFilter(named: "Open")
    }
    try store.updateSearchIndex()
  }

  private static func changed(_ bytes: [UInt8], by changes: some Swift.Collection<UInt8>) -> [UInt8] {
    var (bytes, changes) = (bytes, Array(changes)[...])
    while changes.count >= 4, !bytes.isEmpty {
      let place = changes.prefix(3).reduce(0) { $0 << 8 | Int($1) }
      bytes[place % bytes.count] ^= changes[changes.startIndex + 3]
      changes = changes.dropFirst(4)
    }
    return bytes
  }

  /// Walks the pages of the changed data file; one found sound must be read, and verified, without a crash.
  func walkPages(changedBy changes: [UInt8]) throws {
    let store = directory.appending("store")
    let file = store.appending("data.mdb")
    try Data(Self.changed(data, by: changes)).write(to: URL(fileURLWithPath: file.string))
    do throws(LMDBError) {
      try DataFile(file).checkStructure()
    } catch {
      guard [.corrupted, .invalidFile, .versionMismatch].contains(error.code) else {
        throw FuzzTarget.Finding(description: "\(error)")
      }
      return
    }
    do {
      _ = try TaskStore.verify(at: store, configuration: .testing())
    } catch is TallyError {
      // As a header of another format is refused.
    }
  }

  /// Reads the images of a changed row, which the first byte selects, and the records in them.
  func readHistory(changedBy bytes: [UInt8]) throws {
    guard let first = bytes.first else { return }
    let row = Self.changed(history[Int(first) % history.count], by: bytes.dropFirst())
    do {
      // Unsafe by signature only: bytes are bytes.
      let record = try unsafe HistoryRecord(decoding: row.span.bytes)
      let images = [UInt8](record.images)
      var reader = unsafe ImageReader(images.span.bytes)
      try reader.forEach { key, presence, image in
        guard presence != .absent else { return }
        switch key.kind {
        case .task: _ = try TaskRecord(id: key.id, decoding: image)
        case .list: _ = try ListRecord(id: key.id, decoding: image)
        case .completion, .deletedCompletion: _ = try CompletionRecord(decoding: image)
        default: _ = try key.value
        }
      }
    } catch let error as LMDBError where error.code == .undecodable {
      // The expected end of a damaged row.
    }
  }

  /// Opens a journal, which must take a reminder and know it when it is opened again.
  func readJournal(_ bytes: [UInt8]) throws {
    let path = directory.appending("journal")
    try Data(bytes).write(to: URL(fileURLWithPath: path.string))
    let entry = ReminderJournal.Entry(date: TestClock.noon.now, taskID: .lowest)
    func open() throws -> ReminderJournal {
      try ReminderJournal(at: path, ofStoreAt: directory.appending("sample"), now: TestClock.noon.now)
    }
    do {
      try open().begin(entry)
    } catch is CommandFailure {
      return
    }
    let journal = try open()
    guard journal.begun.contains(entry), journal.interrupted.contains(entry) else {
      throw FuzzTarget.Finding(description: "a reminder that was begun is forgotten")
    }
  }
}
