import Foundation
import SystemPackage
import TallyEngine
import TallyTestSupport
import Testing

@testable import Tally

struct ImportTests {
  @Test func aLineNeedsNothingButItsText() throws {
    try withStore { (store: TaskStore) throws in
      let summary = try store.importText("{\"text\":\"a\"}\n\n{\"text\":\"b\"}\r\n{\"text\":\"c\"}", .ndjson)
      #expect(summary.tasks == ImportSummary.Counts(added: 3, changed: 0, unchanged: 0))
      let tasks = try store.read { try $0.view(.inbox).sections.flatMap(\.tasks) }
      #expect(tasks.map(\.title) == ["a", "b", "c"], "they go last in the order of the lines")
      for task in tasks {
        #expect(task.state == .notStarted)
        #expect(task.createdAt == Samples.now)
        #expect(task.updatedAt == Samples.now)
        #expect(UUIDv7.timestamp(of: task.id) != nil)
      }
    }
  }

  @Test func newTasksGoBehindTheOldOnesOfTheirPlace() throws {
    try withStore { (store: TaskStore) throws in
      try store.writeAndWait { transaction in
        _ = try transaction.add("first", to: .today)
        _ = try transaction.add("second", to: .today)
      }
      let today = "\"scheduledDate\":\"2026-11-21\""
      try store.importText("{\"text\":\"third\",\(today)}\n{\"text\":\"fourth\",\(today)}\n", .ndjson)
      let titles = try store.read { try $0.view(.today).sections.flatMap(\.tasks).map(\.title) }
      #expect(titles == ["first", "second", "third", "fourth"])
    }
  }

  @Test func aCompletionTimeMeansCompletedAndDatesTheTask() throws {
    try withStore { (store: TaskStore) throws in
      try store.importText("{\"text\":\"a\",\"completedAt\":\"2020-02-29T23:30:00-05:00\"}", .ndjson)
      let task = try #require(try store.read { try $0.view(.all).sections.first?.tasks.first })
      #expect(task.state == .completed)
      #expect(task.completedAt?.iso8601 == "2020-02-29T23:30:00-05:00")
      #expect(task.createdAt.iso8601 == "2020-03-01T04:30:00Z")
      #expect(task.updatedAt == task.createdAt)
    }
  }

  @Test func whatADocumentDoesNotSayStaysAsItIs() throws {
    try withStore { (store: TaskStore) throws in
      let old = try store.writeAndWait { transaction in
        let list = try transaction.addList(name: "list")
        let draft = TaskDraft(title: "a", notes: "n", dueDate: Samples.now, listID: list.id)
        return try transaction.complete(try transaction.add(draft).id)
      }
      let id = old.id.uuidString
      #expect(try store.importText("{\"id\":\"\(id)\",\"text\":\"a\"}", .ndjson).tasks.unchanged == 1)
      #expect(try store.importText("{\"id\":\"\(id)\",\"text\":\"b\",\"notes\":null}", .ndjson).tasks.changed == 1)
      var expected = old
      expected.title = "b"
      expected.notes = nil
      #expect(try store.read { try $0.task(old.id) } == expected)
      let reopened = "{\"id\":\"\(id)\",\"text\":\"b\",\"state\":\"active\"}"
      let overwriting = ImportOptions(overwrites: true)
      #expect(try store.importText(reopened, .ndjson).tasks.keptNewer == 1)
      #expect(try store.importText(reopened, .ndjson, overwriting).tasks.changed == 1)
      #expect(try store.read { try $0.task(old.id)?.completedAt } == nil)
      #expect(try store.importText(reopened, .ndjson, overwriting).tasks.unchanged == 1)
    }
  }

  @Test func aChangeWithoutADateIsDatedNow() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let task = try store.writeAndWait { try $0.add("a", to: .inbox) }
      clock.now = clock.now.adding(seconds: 60)
      try store.importText("{\"id\":\"\(task.id)\",\"text\":\"b\"}", .ndjson)
      #expect(try store.read { try $0.task(task.id)?.updatedAt } == clock.now)
    }
  }

  @Test func completionsThatTasksDoNotTellAreCounted() throws {
    let seed = SeededGenerator.chooseSeed(for: "completionsThatTasksDoNotTellAreCounted")
    var generator = SeededGenerator(seed: seed)
    try withStore { (store: TaskStore) throws in
      try Samples.fill(store, taskCount: 200, using: &generator)
      let document = try store.exportedText()
      var count = 0
      try store.read { try $0.forEachDetachedCompletion { _ in count += 1 } }
      #expect(count > 0)
      let again = try store.importText(document).completions
      #expect(again.added == 0 && again.changed == 0 && again.unchanged == count)
      try withStore { (other: TaskStore) throws in
        let dryRun = try other.importText(document, .json, ImportOptions(isDryRun: true)).completions
        let imported = try other.importText(document).completions
        #expect(dryRun == imported)
        #expect(imported.added > 0 && imported.added + imported.changed == count)
      }
    }
  }

  /// More completions than are written at once come first; one of them says in which list a later task was completed.
  @Test func completionsBeforeManyOthersStillFollowTheirTasks() throws {
    let completion = """
      {"taskID":"00000000-0000-0000-0000-0000000000a1","completedAt":"2026-01-01T00:00:00Z",
      "createdAt":"2025-01-01T00:00:00Z","listID":"00000000-0000-0000-0000-0000000000ff","taskDeleted":false}
      """
    let others = (0..<4_200).map { number in
      """
      {"taskID":"\(UUID().uuidString)","completedAt":"2026-01-01T00:00:00Z",
      "createdAt":"2025-01-01T00:00:00Z","listID":null,"taskDeleted":true}
      """
    }
    let document = """
      {"completions":[\(([completion] + others).joined(separator: ","))],
      "tasks":[{"completedAt":"2026-01-01T00:00:00Z","text":"t",
      "createdAt":"2025-01-01T00:00:00Z","id":"00000000-0000-0000-0000-0000000000A1"}],"schemaVersion":1}
      """
    try withStore { (store: TaskStore) throws in
      try store.importText(document)
      let lists = try store.read { transaction in
        var found: [UUID?] = []
        try transaction.forEachDetachedCompletion { if let id = $0.listID { found.append(id) } }
        return found
      }
      #expect(lists.map { $0?.uuidString.suffix(2) } == ["FF"])
    }
  }

  @Test func keysComeInAnyOrderAndListsAfterTheirTasks() throws {
    let document = """
      {"completions":[{"taskID":"00000000-0000-0000-0000-0000000000a1","completedAt":"2026-01-01T00:00:00Z",
      "createdAt":"2025-01-01T00:00:00Z","listID":"00000000-0000-0000-0000-0000000000ff","taskDeleted":false}],
      "tasks":[{"listID":"00000000-0000-0000-0000-0000000000B1","completedAt":"2026-01-01T00:00:00Z","text":"t",
      "createdAt":"2025-01-01T00:00:00Z","id":"00000000-0000-0000-0000-0000000000A1"}],
      "lists":[{"name":"l","id":"00000000-0000-0000-0000-0000000000b1"}],"schemaVersion":1}
      """
    try withStore { (store: TaskStore) throws in
      let summary = try store.importText(document)
      #expect(summary.tasks.added == 1)
      #expect(summary.lists.added == 1)
      let completions = try store.read { transaction in
        var found: [Completion] = []
        try transaction.forEachDetachedCompletion { found.append($0) }
        return found
      }
      #expect(completions.map { $0.listID?.uuidString.suffix(2) } == ["FF"])
      #expect(try store.importText(document).tasks.unchanged == 1)
    }
  }

  @Test func aDryRunSaysTheSameAndWritesNothing() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "aDryRun"))
    try withStore { source in
      try Samples.fill(source, taskCount: 60, using: &generator)
      let export = try source.exportedText()
      try withStore { (store: TaskStore) throws in
        let sequence = try store.read { try $0.sequence }
        let dryRun = try store.importText(export, .json, ImportOptions(isDryRun: true))
        #expect(dryRun.isDryRun)
        #expect(try store.read { try $0.taskCount } == 0)
        #expect(try store.read { try $0.sequence } == sequence)
        let done = try store.importText(export)
        #expect(done.tasks == dryRun.tasks)
        #expect(done.lists == dryRun.lists)
      }
    }
  }

  @Test func lenientImportsPassOverUnknownKeys() throws {
    try withStore { (store: TaskStore) throws in
      let document = """
        {"schemaVersion":1,"x":{"tasks":[{}]},"tasks":[{"text":"a","labels":[["b"]],"x":1,"x":2}],"y":null}
        """
      let error = #expect(throws: TallyError.self) { try store.importText(document) }
      #expect(error?.code == .unknownKey)
      #expect(try store.importText(document, .json, ImportOptions(isLenient: true)).tasks.added == 1)
    }
  }

  @Test func pipesWorkAndSurviveAGrowingMap() throws {
    var configuration = TaskStore.Configuration.testing()
    configuration.mapSizeInBytes = 1 << 20
    try withStore(configuration) { (store: TaskStore) throws in
      let lines = (0..<20_000).map { "{\"text\":\"task number \($0)\"}\n" }.joined()
      var runs = 0
      var last = 0
      let summary = try throughPipe(lines) { pipe in
        try store.importDocument(from: pipe, format: .ndjson) { progress in
          if progress.taskCount < last { runs += 1 }
          last = progress.taskCount
          #expect(progress.totalByteCount == Int64(lines.utf8.count), "the pipe is copied first")
        }
      }
      #expect(runs > 0, "the map had to grow, or this tests nothing")
      #expect(summary.tasks.added == 20_000)
      #expect(try store.read { try $0.taskCount } == 20_000)
      let left = try FileManager.default.contentsOfDirectory(atPath: store.directory.string).sorted()
      #expect(left == ["access.lock", "data.mdb", "lock.mdb", "log", "log.lock"])
    }
  }

  @Test func filesAreReadAgainWhenTheMapGrows() throws {
    var configuration = TaskStore.Configuration.testing()
    configuration.mapSizeInBytes = 1 << 20
    try withStore(configuration) { (store: TaskStore) throws in
      let lines = (0..<20_000).map { "{\"text\":\"task number \($0)\"}\n" }.joined()
      #expect(try store.importText(lines, .ndjson).tasks.added == 20_000)
    }
  }

  @Test func progressMayEndAnImportWhichThenLeavesNothing() throws {
    struct Stop: Error {}
    try withStore { (store: TaskStore) throws in
      let lines = (0..<10_000).map { "{\"text\":\"\($0)\"}\n" }.joined()
      #expect(throws: Stop.self) {
        try withFile(lines) { file in
          try store.importDocument(from: file, format: .ndjson) { progress in
            #expect(progress.totalByteCount == Int64(lines.utf8.count))
            throw Stop()
          }
        }
      }
      #expect(try store.read { try $0.taskCount } == 0)
    }
  }

  @Test func anImportThatCouldNotBeUndoneIsRefusedIfItMustBeUndoable() throws {
    try withStore { (store: TaskStore) throws in
      let title = String(repeating: "x", count: BeforeImages.maximumSizeInBytes + 1)
      let id = try store.writeAndWait { try $0.add(title).id }
      let line = "{\"id\":\"\(id.uuidString)\",\"text\":\"short\"}\n"
      var options = ImportOptions(overwrites: true, mustBeUndoable: true)
      expect(.irreversible) { _ = try store.importText(line, .ndjson, options) }
      #expect(try store.read { try $0.task(id)?.title } == title)
      options.mustBeUndoable = false
      #expect(try store.importText(line, .ndjson, options).tasks.changed == 1)
      #expect(try store.read { try $0.task(id)?.title } == "short")
    }
  }

  @Test func aCancelledTaskEndsTheImport() async throws {
    try await withStore { (store: TaskStore) async throws in
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        return Result { try store.importText("{\"text\":\"a\"}", .ndjson) }
      }
      task.cancel()
      let result = await task.value
      #expect(throws: TallyError.self) { try result.get() }
      #expect(try store.read { try $0.taskCount } == 0)
    }
  }

  @Test func unreadableInputsAreAnErrorOfTheirOwn() throws {
    try withStore { (store: TaskStore) throws in
      for path in ["/nonexistent/file", "/"] as [FilePath] {
        let error = #expect(throws: TallyError.self) { try store.importDocument(from: path) }
        #expect(error?.code == .inputUnreadable)
      }
    }
  }
}

extension ImportTests {
  private func withFile<R>(_ text: String, _ body: (FilePath) throws -> R) throws -> R {
    try withTemporaryDirectory { (directory: FilePath) throws in
      let file = directory.appending("import")
      try Data(text.utf8).write(to: URL(filePath: file.string))
      return try body(file)
    }
  }

  /// Feeds a text through a pipe from another thread.
  private func throughPipe<R>(_ text: String, _ body: (FileDescriptor) throws -> R) throws -> R {
    let (reading, writing) = try FileDescriptor.pipe()
    let thread = Thread {
      // A reader that stops early closes its end; the write then fails, which is expected.
      _ = try? writing.closeAfter { try writing.writeAll(text.utf8) }
    }
    thread.start()
    return try reading.closeAfter { try body(reading) }
  }
}
