import Foundation

@testable import Tally

/// The rows of the golden store's tables, in their order, from the tasks written down here.
struct ExpectedRows {
  let rows: [String: [Row]]

  init(golden: GoldenStore) throws {
    let tasks = try golden.expectedTasks()
    let start = "\(golden.start.microsecondsSince1970)"
    var rows = ["tasks": tasks.map(Self.record)]
    rows["meta"] = [
      ["majorFormat": "1", "minorFormat": "0", "storeID": hexadecimal(GoldenStore.id(0xFF)), "sequence": "6"]
    ]
    rows["lists"] = [
      Self.list(golden.home, "Home", "007AFF", order: 0, start),
      Self.list(golden.books, "Bücher 📚", "00FF0A", order: 1 << 20, start),
    ]
    rows["listsByOrder"] = [
      ["sortOrder": "0", "createdAt": start, "id": hexadecimal(golden.home)],
      ["sortOrder": "1048576", "createdAt": start, "id": hexadecimal(golden.books)],
    ]
    // Task 1 is in the inbox, 2 and 3 are in a list; 4 has a day and no list.
    rows["byPlace"] = [0, 1, 2].map { Self.place(tasks[$0]).merging(Self.order(tasks[$0])) { first, _ in first } }
    rows["byDay"] = [3, 1].map { number in
      let day = ["isCompleted": "no", "scheduledDate": "\(tasks[number].scheduledDate?.dayNumber ?? 0)"]
      return day.merging(["rank": tasks[number].state.name]) { first, _ in first }
        .merging(Self.order(tasks[number])) { first, _ in first }
    }
    rows["byDue"] = [(3, "no"), (1, "no"), (2, "yes")].map { index, isCompleted in
      ["isCompleted": isCompleted, "dueDate": number(of: tasks[index].dueDate), "id": hexadecimal(tasks[index].id)]
    }
    rows["byReminder"] = [["reminderDate": number(of: tasks[1].reminderDate), "id": hexadecimal(tasks[1].id)]]
    rows["byCreated"] = tasks.map { ["createdAt": number(of: $0.createdAt), "id": hexadecimal($0.id)] }
    rows["byActive"] = [Self.order(tasks[1])]
    rows["byTail"] = tasks.map { ["id": hexadecimal($0.id)] }
    rows["completions"] = Self.completions(golden, tasks[2])
    rows["deletedByCreated"] = [["createdAt", "completedAt"]].map { names in
      let gone = number(of: golden.start.adding(seconds: 5))
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
    let (read, gone) = (number(of: tasks[2].completedAt?.instant), number(of: golden.start.adding(seconds: 5)))
    let images = [
      "list \(id(0xA0)), list \(id(0xA1))",
      "task \(id(1))",
      "task \(id(2)), task \(id(2)) \(84 + 12 + 10)",
      "task \(id(3)), task \(id(3)) \(84 + 4), completion \(id(3)) @\(read), task \(id(3)) \(84 + 4)",
      "task \(id(4))",
      "task \(id(5)), task \(id(5)) \(84 + 4), completion \(id(5)) @\(gone), task \(id(5)) \(84 + 4), "
        + "completion \(id(5)) @\(gone) 28, deletedCompletion \(id(5)) @\(gone)",
    ]
    let sizes = [36, 18, 18 + 22 + 106, 18 + 110 + 26 + 110, 18, 0]
    return images.enumerated().map { index, text in
      [
        "sequence": "\(index + 1)", "position": "0", "part": "0", "format": "1", "kind": "change",
        "targetPosition": "0", "targetSequence": "0", "date": number(of: golden.start.adding(seconds: Int64(index))),
        "precedingSize": "\(sizes.prefix(index).reduce(0, +))", "images": text,
      ]
    }
  }

  private static func record(_ task: TaskItem) -> Row {
    var row: Row = [
      "format": "1", "id": hexadecimal(task.id), "title": task.title, "state": task.state.name,
      "sortOrder": "\(task.sortOrder)", "createdAt": number(of: task.createdAt),
      "updatedAt": number(of: task.updatedAt),
    ]
    var presence: [String] = []
    func add(_ name: String, _ value: String?) {
      guard let value else { return }
      row[name] = value
      presence.append(name)
    }
    add("notes", task.notes)
    add("scheduledDate", task.scheduledDate.map { "\($0.dayNumber)" })
    add("dueDate", task.dueDate.map { number(of: $0) })
    add("reminderDate", task.reminderDate.map { number(of: $0) })
    add("list", task.listID.map(hexadecimal))
    add("completedAt", task.completedAt.map { number(of: $0.instant) })
    row["completionOffset"] = task.completedAt.map { "\($0.utcOffsetInMinutes)" }
    row["presence"] = presence.joined(separator: " ")
    return row
  }

  private static func list(_ id: UUID, _ name: String, _ color: String, order: Int64, _ start: String) -> Row {
    [
      "format": "1", "id": hexadecimal(id), "name": name, "color": color, "sortOrder": "\(order)", "createdAt": start,
      "updatedAt": start,
    ]
  }

  private static func place(_ task: TaskItem) -> Row {
    [
      "place": task.listID == nil ? "inbox" : "list", "list": hexadecimal(task.listID ?? UUID(high: 0, low: 0)),
      "rank": task.state.name,
    ]
  }

  private static func order(_ task: TaskItem) -> Row {
    ["sortOrder": "\(task.sortOrder)", "createdAt": number(of: task.createdAt), "id": hexadecimal(task.id)]
  }

  /// Task 3 was completed in the list of books and moved later; task 5 was deleted.
  private static func completions(_ golden: GoldenStore, _ task: TaskItem) -> [Row] {
    let gone = golden.start.adding(seconds: 5)
    return [
      [
        "format": "1", "isTaskDeleted": "no", "completedAt": task.completedAt.map { number(of: $0.instant) } ?? "",
        "id": hexadecimal(task.id), "hasList": "yes", "completionOffset": "-210", "list": hexadecimal(golden.books),
        "createdAt": number(of: task.createdAt),
      ],
      [
        "format": "1", "isTaskDeleted": "yes", "completedAt": number(of: gone), "id": hexadecimal(GoldenStore.id(5)),
        "hasList": "yes", "completionOffset": "180", "list": hexadecimal(golden.books), "createdAt": number(of: gone),
      ],
    ]
  }
}

func hexadecimal(_ id: UUID) -> String {
  id.uuidString.lowercased().filter { $0 != "-" }
}

private func number(of instant: Timestamp?) -> String {
  instant.map { "\($0.microsecondsSince1970)" } ?? ""
}
