import Foundation

@testable import Tally

/// The rows of the golden store's tables, in their order, from the tasks written down here.
struct ExpectedRows {
  let rows: [String: [Row]]

  init(golden: GoldenStore) throws {
    let tasks = try golden.expectedTasks()
    let start = "\(golden.start.microsecondsSince1970)"
    var rows = ["tasks": tasks.enumerated().map { Self.record($1, $0) }]
    rows["meta"] = [
      [
        "majorFormat": "2", "minorFormat": "0", "requiredFeatures": "taggedRecords", "writerFeatures": "",
        "storeID": hexadecimal(GoldenStore.id(0xFF)), "sequence": "7", "logStart": "0",
      ]
    ]
    rows["lists"] = [
      Self.list(golden.home, "Home", "007AFF", order: 0, start),
      Self.list(golden.books, "Bücher 📚", "00FF0A", order: 1 << 20, start),
    ]
    rows["listsByOrder"] = [
      ["sortOrder": "0", "createdAt": start, "id": hexadecimal(golden.home)],
      ["sortOrder": "1048576", "createdAt": start, "id": hexadecimal(golden.books)],
    ]
    // Task 1 is in the inbox, 2, 3 and 6 are in a list; 4 has a day and no list.
    rows["byPlace"] = [0, 1, 4, 2].map { Self.place(tasks[$0]).merging(Self.order(tasks[$0])) { first, _ in first } }
    rows["byDay"] = [3, 1].map { number in
      let day = ["isCompleted": "no", "scheduledDate": "\(tasks[number].scheduledDate?.dayNumber ?? 0)"]
      return day.merging(["rank": tasks[number].state.name]) { first, _ in first }
        .merging(Self.order(tasks[number])) { first, _ in first }
    }
    rows["byDue"] = [(3, "open"), (1, "open"), (2, "completed")].map { index, kind in
      ["kind": kind, "instant": instantNumber(of: tasks[index].dueDate), "id": hexadecimal(tasks[index].id)]
    }
    rows["byDue"]?.append(["kind": "openDay", "instant": "1796083200000000", "id": hexadecimal(tasks[4].id)])
    let tags = ["Home", "çay"].sorted { hexadecimal(TagID.of($0)) < hexadecimal(TagID.of($1)) }
    rows["byTag"] = tags.map { Self.group("tag", TagID.of($0), tasks[4]) }
    rows["byParent"] = [Self.group("parent", tasks[1].id, tasks[4])]
    rows["tagNames"] = tags.map { ["tag": hexadecimal(TagID.of($0)), "text": $0] }
    rows["byReminder"] = [["reminderDate": instantNumber(of: tasks[1].reminderDate), "id": hexadecimal(tasks[1].id)]]
    rows["byCreated"] = tasks.map { ["createdAt": instantNumber(of: $0.createdAt), "id": hexadecimal($0.id)] }
    rows["byActive"] = [Self.order(tasks[1])]
    let lists = [golden.home, golden.books].map { ["sequence": "1", "kind": "list", "id": hexadecimal($0)] }
    let changes = tasks.prefix(4).enumerated().map { number, task in
      ["sequence": "\(number + 2)", "kind": "task", "id": hexadecimal(task.id)]
    }
    let gone = hexadecimal(GoldenStore.id(5))
    rows["byChange"] =
      lists + changes + [["sequence": "6", "kind": "deletedTask", "id": gone]]
      + [["sequence": "7", "kind": "task", "id": hexadecimal(tasks[4].id)]]
    rows["tombstones"] = [
      ["format": "1", "kind": "task", "id": gone, "createdSequence": "6", "deletedSequence": "6"]
    ]
    rows["byTail"] = tasks.map { ["id": hexadecimal($0.id)] }
    rows["completions"] = Self.completions(golden, tasks[2])
    rows["deletedByCreated"] = [["createdAt", "completedAt"]].map { names in
      let gone = instantNumber(of: golden.start.adding(seconds: 5))
      return Dictionary(uniqueKeysWithValues: names.map { ($0, gone) })
        .merging(["id": hexadecimal(GoldenStore.id(5))]) { first, _ in first }
    }
    let counters = ExpectedCounters(golden: golden)
    rows["counts"] = counters.blockRows
    rows["totals"] = counters.totalRows
    rows["history"] = Self.history(golden, tasks)
    self.rows = rows
  }

  /// Everything was new, so the images are ids, although task 2 was started, task 3 completed and moved, and task 5
  /// deleted, each in the write that created it.
  private static func history(_ golden: GoldenStore, _ tasks: [TaskItem]) -> [Row] {
    func id(_ number: UInt8) -> String { hexadecimal(GoldenStore.id(number)) }
    let (read, gone) = (
      instantNumber(of: tasks[2].completedAt?.instant), instantNumber(of: golden.start.adding(seconds: 5))
    )
    let images = [
      "list \(id(0xA0)), list \(id(0xA1))",
      "task \(id(1))",
      "task \(id(2)), task \(id(2)) 114",
      "task \(id(3)), task \(id(3)) 88, completion \(id(3)) @\(read), task \(id(3)) 100",
      "task \(id(4))",
      "task \(id(5)), task \(id(5)) 68, completion \(id(5)) @\(gone), task \(id(5)) 80, "
        + "completion \(id(5)) @\(gone) 28, deletedCompletion \(id(5)) @\(gone)",
      "task \(id(6))",
    ]
    let sizes = [
      36, 18, 18 + 22 + 114, 18 + 22 + 88 + 26 + 22 + 100, 18, 18 + 22 + 68 + 26 + 22 + 80 + 26 + 4 + 28 + 26, 0,
    ]
    return images.enumerated().map { index, text in
      [
        "sequence": "\(index + 1)", "position": "0", "part": "0", "format": "1", "kind": "change",
        "origin": "local",
        "targetPosition": "0", "targetSequence": "0",
        "date": instantNumber(of: golden.start.adding(seconds: Int64(index))),
        "precedingSize": "\(sizes.prefix(index).reduce(0, +))", "images": text,
      ]
    }
  }

  private static func group(_ name: String, _ id: UUID, _ task: TaskItem) -> Row {
    [name: hexadecimal(id), "rank": task.state.name].merging(order(task)) { first, _ in first }
  }

  /// Every task was created by one commit, the one of its number and one more, and not changed later; the commit before
  /// the last deleted task 5.
  private static func record(_ task: TaskItem, _ number: Int) -> Row {
    let number = number == 4 ? 5 : number
    var row: Row = [
      "format": "1", "id": hexadecimal(task.id), "title": task.title, "state": task.state.name,
      "sortOrder": "\(task.sortOrder)", "createdAt": instantNumber(of: task.createdAt),
      "updatedAt": instantNumber(of: task.updatedAt), "createdSequence": "\(number + 2)",
      "changedSequence": "\(number + 2)",
    ]
    row["notes"] = task.notes
    row["scheduledDate"] = task.scheduledDate.map { "\($0.dayNumber)" }
    row["dueDate"] = task.dueDate.map { instantNumber(of: $0) }
    row["reminderDate"] = task.reminderDate.map { instantNumber(of: $0) }
    row["list"] = task.listID.map(hexadecimal)
    row["dueDay"] = task.dueDay.map { "\($0.dayNumber)" }
    row["priority"] = task.priority == .none ? nil : task.priority.name
    row["tags"] = task.tags.isEmpty ? nil : task.tags.joined(separator: " ")
    row["parent"] = task.parentID.map(hexadecimal)
    row["recurrence"] = task.recurrence?.text
    row["series"] = task.series.map { hexadecimal($0.id) }
    row["seriesStart"] = task.series.map { "\($0.start.dayNumber)" }
    row["seriesOccurrence"] = task.series.map { "\($0.occurrence.dayNumber)" }
    row["seriesIndex"] = task.series.map { "\($0.index)" }
    row["seriesStep"] = task.series.flatMap { $0.step == 0 ? nil : "\($0.step)" }
    row["attributes"] =
      task.attributes.isEmpty
      ? nil
      : "bytes:bytes:00ff day:day:802cc0a0 flag:flag:01 instant:instant:7f23400100d44000 "
        + "integer:integer:7fffffffffffffff real:real:3fe0000000000000 text:text:c3bc"
    row["completedAt"] = task.completedAt.map { instantNumber(of: $0.instant) }
    row["completionOffset"] = task.completedAt.map { "\($0.utcOffsetInMinutes)" }
    return row
  }

  private static func list(_ id: UUID, _ name: String, _ color: String, order: Int64, _ start: String) -> Row {
    [
      "format": "1", "id": hexadecimal(id), "name": name, "color": color, "sortOrder": "\(order)", "createdAt": start,
      "updatedAt": start, "createdSequence": "1", "changedSequence": "1",
    ]
  }

  private static func place(_ task: TaskItem) -> Row {
    [
      "place": task.listID == nil ? "inbox" : "list", "list": hexadecimal(task.listID ?? UUID(high: 0, low: 0)),
      "rank": task.state.name,
    ]
  }

  private static func order(_ task: TaskItem) -> Row {
    ["sortOrder": "\(task.sortOrder)", "createdAt": instantNumber(of: task.createdAt), "id": hexadecimal(task.id)]
  }

  /// Task 3 was completed in the list of books and moved later; task 5 was deleted.
  private static func completions(_ golden: GoldenStore, _ task: TaskItem) -> [Row] {
    let gone = golden.start.adding(seconds: 5)
    return [
      [
        "format": "1", "isTaskDeleted": "no",
        "completedAt": task.completedAt.map { instantNumber(of: $0.instant) } ?? "",
        "id": hexadecimal(task.id), "hasList": "yes", "completionOffset": "-210", "list": hexadecimal(golden.books),
        "createdAt": instantNumber(of: task.createdAt),
      ],
      [
        "format": "1", "isTaskDeleted": "yes", "completedAt": instantNumber(of: gone),
        "id": hexadecimal(GoldenStore.id(5)),
        "hasList": "yes", "completionOffset": "180", "list": hexadecimal(golden.books),
        "createdAt": instantNumber(of: gone),
      ],
    ]
  }
}

func hexadecimal(_ id: UUID) -> String {
  id.uuidString.lowercased().filter { $0 != "-" }
}

private func instantNumber(of instant: Timestamp?) -> String {
  instant.map { "\($0.microsecondsSince1970)" } ?? ""
}
