import Foundation
import SystemPackage
import TallyTestSupport
import Testing

@testable import Tally

struct ExportTests {
  @Test func anEmptyStoreIsAWholeDocument() throws {
    try withStore { (store: TaskStore) throws in
      #expect(
        try store.exportedText() == """
          {
            "exportDate": "2026-11-21T09:00:00Z",
            "appVersion": "\(TaskStore.libraryVersion)",
            "schemaVersion": 2,
            "lists": [],
            "tasks": [],
            "completions": [],
            "filters": []
          }

          """
      )
      #expect(try store.exportedText(.ndjson) == "")
    }
  }

  @Test func theSummaryCountsWhatWasWritten() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "theSummaryCounts"))
    try withStore { (store: TaskStore) throws in
      try Samples.fill(store, taskCount: 80, using: &generator)
      try withTemporaryDirectory { (directory: FilePath) throws in
        let file = directory.appending("out.json")
        var reports: [InterchangeProgress] = []
        let summary = try store.export(to: file) { reports.append($0) }
        #expect(summary.byteCount == (try file.stat().size))
        #expect(try file.stat().permissions == .ownerReadWrite)
        #expect(summary.taskCount == (try store.read { try $0.taskCount }))
        #expect(summary.listCount == 3)
        #expect(summary.completionCount > 0)
        #expect(reports.last?.taskCount == summary.taskCount)
        #expect(reports.last?.totalTaskCount == summary.taskCount)
        #expect(reports.last?.byteCount == summary.byteCount)
      }
    }
  }

  @Test func aFailedExportLeavesTheOldFileAndNothingElse() throws {
    struct Stop: Error {}
    try withStore { (store: TaskStore) throws in
      try withTemporaryDirectory { (directory: FilePath) throws in
        let file = directory.appending("out.json")
        try Data("old".utf8).write(to: URL(filePath: file.string))
        #expect(throws: Stop.self) { try store.export(to: file) { _ in throw Stop() } }
        #expect(try Data(contentsOf: URL(filePath: file.string)) == Data("old".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.string) == ["out.json"])
      }
    }
  }

  @Test func aCancelledExportLeavesNothing() async throws {
    try await withStore { (store: TaskStore) async throws in
      try await withTemporaryDirectory { directory in
        let task = Task {
          while !Task.isCancelled { await Task.yield() }
          return Result { try store.export(to: directory.appending("out.json")) }
        }
        task.cancel()
        let result = await task.value
        let error = #expect(throws: TallyError.self) { try result.get() }
        #expect(error?.code == .cancelled)
        let left = try FileManager.default.contentsOfDirectory(atPath: directory.string)
        #expect(left.isEmpty)
      }
    }
  }

  @Test func aFullDiskIsNamed() throws {
    // Linux has a device that is always full.
    guard let full = try? FileDescriptor.open(FilePath("/dev/full"), .writeOnly) else { return }
    try full.closeAfter {
      try withStore { (store: TaskStore) throws in
        let error = #expect(throws: TallyError.self) { try store.export(to: full) }
        #expect(error?.code == .diskFull)
      }
    }
  }

  @Test func writersGoOnWhileAnExportIsOneSnapshot() throws {
    try withStore { (store: TaskStore) throws in
      try store.writeAndWait { transaction in
        for number in 0..<5_000 { _ = try transaction.add("\(number)", to: .inbox) }
      }
      try withTemporaryDirectory { (directory: FilePath) throws in
        let file = directory.appending("out.ndjson")
        var additions = 0
        try store.export(to: file, format: .ndjson) { _ in
          additions += 1
          _ = try store.writeAndWait { try $0.add("late \(additions)", to: .inbox) }
        }
        #expect(additions > 1)
        let lines = try String(contentsOf: URL(filePath: file.string), encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 5_000)
      }
    }
  }

  @Test func filesAreNamedAfterTheLocalDay() throws {
    let day = try CalendarDay(iso8601: "2026-11-21")
    #expect(InterchangeFormat.json.defaultFileName(on: day) == "Tally-Tasks-Export-2026-11-21.json")
    #expect(InterchangeFormat.ndjson.defaultFileName(on: day) == "Tally-Tasks-Export-2026-11-21.ndjson")
  }
}
