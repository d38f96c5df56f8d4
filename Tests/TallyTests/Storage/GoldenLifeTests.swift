import Foundation
import SystemPackage
import TallyEngine
import TallyTestSupport
import Testing

@testable import Tally

/// The stores and exports that versions left are opened and imported, and show what they did.
///
/// `TALLY_RECORD=1 swift test --filter GoldenLifeTests` rewrites the files of this version: after a change of what it stores
/// before it is released, and never after that.
@Suite struct GoldenLifeTests {
  private static let zones = ["Europe/Berlin", "America/Havana"]

  @Test func theFilesAreThoseOfThisVersion() throws {
    guard ProcessInfo.processInfo.environment["TALLY_RECORD"] == "1" else { return }
    for version in GoldenLife.Version.allCases {
      try GoldenLife().record(version)
      let lines = try Self.zones.flatMap { zone in
        try openStore(of: version, in: zone) { store in try shown(by: store, zone) }
      }
      try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: version.shown)
    }
  }

  @Test func whatThisVersionWritesIsWhatIsKept() throws {
    // Recorded elsewhere, the files are not read back.
    let (rows, export) = (GoldenLife.Version.life.rows, GoldenLife.Version.life.export)
    let kept = (try String(contentsOf: rows, encoding: .utf8), try String(contentsOf: export, encoding: .utf8))
    try withTemporaryDirectory { directory in
      let golden = GoldenLife()
      let written = (directory.appending("rows"), directory.appending("export"))
      try golden.write(.life, rows: URL(filePath: written.0.string), export: written.1)
      let read = { (path: FilePath) in try String(contentsOf: URL(filePath: path.string), encoding: .utf8) }
      #expect(try read(written.0).split(separator: "\n") == kept.0.split(separator: "\n"))
      #expect(try read(written.1) == kept.1)
    }
  }

  @Test(arguments: GoldenLife.Version.allCases)
  func aStoreOpensAndShowsWhatItDid(version: GoldenLife.Version) throws {
    for zone in Self.zones {
      try openStore(of: version, in: zone) { store in
        #expect(try store.verify().faults == [])
        let lines = try shown(by: store, zone)
        #expect(lines == (try kept(by: version, in: zone)))
      }
    }
  }

  private func openStore<R>(
    of version: GoldenLife.Version, in zone: String, _ body: (TaskStore) throws -> R
  ) throws -> R {
    try withTemporaryDirectory { directory in
      let path = directory.appending("store")
      try StoredRows(from: version.rows).makeStore(at: path)
      let store = try TaskStore(at: path, configuration: GoldenLife().configuration(zone))
      let result = try body(store)
      try store.close()
      return result
    }
  }

  /// The kept lines of a version for a zone.
  private func kept(by version: GoldenLife.Version, in zone: String) throws -> [String] {
    try String(contentsOf: version.shown, encoding: .utf8).split(separator: "\n").map(String.init)
      .filter { $0.hasPrefix(zone + " ") }
  }

  @Test(arguments: GoldenLife.Version.allCases)
  func anExportComesInAndShowsWhatItDid(version: GoldenLife.Version) throws {
    for zone in Self.zones {
      try withStore(GoldenLife().configuration(zone)) { store in
        try store.importText(try String(contentsOf: version.export, encoding: .utf8))
        let lines = try shown(by: store, zone)
        #expect(lines == (try self.kept(by: version, in: zone)))
        let text = try store.exportedText()
        let kept = try String(contentsOf: version.export, encoding: .utf8)
        #expect(withoutDate(text) == withoutDate(kept))
      }
    }
  }

  private func withoutDate(_ text: String) -> String { text.replacing(/"exportDate": "[^"]*"/, with: "") }

  private func shown(by store: TaskStore, _ zone: String) throws -> [String] {
    try store.read { transaction in
      try transaction.tasks(TaskQuery(.all, by: .place)).tasks.filter(\.isOpen).map { task in
        ([zone, task.title] + (try days(of: task, in: transaction))).joined(separator: " ")
      }.sorted()
    }
  }

  /// When the task and the two after it are due, if each is done at that time.
  private func days(of task: TaskItem, in transaction: borrowing StoreReadTransaction) throws -> [String] {
    guard let series = try transaction.series(of: task), var place = task.series else { return [] }
    var tasks = [task]
    while tasks.count < 3 {
      let day = tasks[tasks.count - 1].dueDay(in: transaction.calendar.timeZone) ?? place.occurrence
      let reference = DateReference(now: day.start(in: transaction.calendar), calendar: transaction.calendar)
      guard let next = series.place(after: place, closedOn: day, at: reference) else { break }
      tasks.append(series.task(at: next, in: transaction.calendar.timeZone, createdAt: task.createdAt))
      place = next
    }
    return tasks.map { $0.dueDay?.iso8601 ?? $0.dueDate?.iso8601 ?? "-" }
  }
}
