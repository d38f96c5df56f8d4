import Foundation
import Tally

/// Reads a table of tasks, whose first row names the columns.
final class TableSource: RowSource {
  /// The first rows, which were read ahead for the order of their dates, in reverse.
  private var waiting: [[TableReader.Cell]] = []

  override func nextTask() throws -> (TaskDocument, TextPosition)? {
    if columns == nil {
      guard let head = try rows.next() else { return nil }
      let columns = try columns(head)
      self.columns = columns
      while waiting.count < Self.rowsReadAhead, rows.byteCount < Self.bytesReadAhead, let row = try rows.next() {
        waiting.append(row)
      }
      let dates = waiting.lazy.flatMap { row in
        zip(columns, row).compactMap { TableRecord.dateColumns.contains($0) ? $1.text : nil }
      }
      if !context.hasDateOrder, let order = WrittenDate.order(dates) { context.options.dateOrder = order }
      waiting.reverse()
    }
    guard let columns else { return nil }
    while let row = try waiting.popLast() ?? rows.next() {
      let position = row[0].position
      context.remarks.position = position
      var cells: [String: String] = [:]
      for (index, cell) in row.enumerated() where !cell.text.isEmpty {
        let isInTable = index < columns.count
        if !isInTable { context.remarks.add("cell", cell.text) }
        cells[isInTable ? columns[index] : Self.name(ofColumn: index)] = TableText.text(cell.text)
      }
      // A spreadsheet may have rows of separators alone.
      if cells.isEmpty { continue }
      var document = TableRecord(cells: cells).importing(context)
      identity.identify(&document, by: zip(columns, row).map { "\($0)=\($1.text)" }.joined(separator: "\u{1E}"))
      return (document, position)
    }
    return nil
  }

  /// How many rows may decide whether days or months come first.
  private static let rowsReadAhead = 1_000
  /// How many bytes they may have: a cell may be long.
  private static let bytesReadAhead: Int64 = 4 << 20

  /// The names of the columns; those of Tally's own may be written in any case, others have usual names.
  ///
  /// A column that comes a second time, or has no name, gets a number.
  private func columns(_ head: [TableReader.Cell]) throws -> [String] {
    let names = head.map { TableText.text($0.text).trimmed }
    let own = TableRecord.columns + TableRecord.rareColumns + [TableRecord.extensionColumn, "title"]
    let ownOfHead = names.map { name in own.first { $0.lowercased() == name.lowercased() } }
    // Tally's own table, where every other column is an attribute.
    let isOwn = ownOfHead.contains(TableRecord.extensionColumn)
    let seen = Set(ownOfHead.compactMap(\.self))
    var used: Set<String> = []
    let columns = names.enumerated().map { index, name -> String in
      let usual = ownOfHead[index] ?? (isOwn ? nil : Self.usualColumn(name, beside: seen))
      if let usual, used.insert(usual).inserted { return usual }
      // The name of a column that comes a second time would hide the first.
      let own = !TableRecord.isColumn(name) || name.isEmpty || used.contains(name) ? Self.name(ofColumn: index) : name
      used.insert(own)
      return own
    }
    guard columns.contains("text") || columns.contains("title") else {
      let found = names.joined(separator: ", ").prefix(200)
      throw TallyError(
        .malformedDocument, "No column has the name of a title; the first row has \(found)",
        remedy: "Give the column of the titles the name “title” in the first row", at: head[0].position)
    }
    let known = Set(own).union(TableRecord.usualColumns)
    for (index, column) in columns.enumerated() where !isOwn && !known.contains(column) && !names[index].isEmpty {
      context.remarks.add("column", names[index], at: head[index].position, isListed: true)
    }
    return columns
  }

  /// The column of Tally's that a heading means, unless the table has that by its own name.
  private static func usualColumn(_ name: String, beside seen: Set<String>) -> String? {
    let column = TableHeading.column(name)
    let isThere = column.map { seen.contains($0) || $0 == "text" && seen.contains("title") } ?? false
    return isThere ? nil : column
  }

  private static func name(ofColumn index: Int) -> String { "column \(index + 1)" }
}

extension String {
  /// Whether there is nothing but white space; scalars count, as a combining mark may follow a blank.
  var isBlank: Bool { unicodeScalars.allSatisfy(\.properties.isWhitespace) }

  /// Without the white space around it.
  var trimmed: String {
    let end = lastIndex { !$0.isWhitespace }.map(index(after:)) ?? startIndex
    return String(self[..<end].drop { $0.isWhitespace })
  }
}

/// Writes a table of tasks: a row for the names of the columns, then one for each task.
struct TableWriter: DocumentWriter {
  private let context: FormatContext
  private var attributes: Set<String> = []
  private var columns: [String] = []
  var bytes: [UInt8] = []

  init(_ context: FormatContext) { self.context = context }

  mutating func prepare(_ task: TaskItem) {
    for (name, value) in task.attributes where !context.options.isPlain || !name.isNameOfTally {
      if case .text = value, TableRecord.isColumn(name) { attributes.insert(name) }
    }
    for field in TableRecord.fields where !field.isAlwaysWritten && task[field] != nil {
      attributes.insert("\(field.name)")
    }
    if task.start != nil { attributes.insert(TableRecord.startColumn) }
  }

  mutating func begin() {
    let own = context.options.isPlain ? [] : [TableRecord.extensionColumn]
    columns = TableRecord.columns + attributes.sorted() + own
    append(columns)
  }

  mutating func write(_ task: TaskItem, in list: TaskList?, under parent: TaskItem?) {
    let record = TableRecord.exporting(task, in: list?.name, context)
    append(columns.map { record.cells[$0] ?? "" })
  }

  mutating func end() {}

  private mutating func append(_ row: [String]) {
    bytes += Array((row.map(TableText.cell).joined(separator: ",") + "\r\n").utf8)
  }
}

/// The names that programs and people use for the columns of a table of tasks.
enum TableHeading {
  /// The usual names of each column of Tally's; case, blanks, hyphens and underscores do not count.
  private static let names: [(column: String, names: Set<String>)] = [
    ("text", ["task", "taskname", "name", "subject", "summary", "todo", "item", "title", "text", "aufgabe", "what"]),
    ("notes", ["notes", "note", "description", "details", "comment", "comments", "body", "memo"]),
    (TableRecord.listColumn, ["list", "listname", "project", "projectname", "folder", "area", "category"]),
    ("due", ["due", "duedate", "dueday", "deadline", "dueon", "dueat", "duedatetime", "enddate"]),
    (
      "scheduledDate", ["scheduled", "scheduleddate", "start", "startdate", "planned", "planneddate", "dodate", "when"]
    ),
    (TableRecord.startColumn, ["startday", "defer", "deferdate", "deferuntil", "wait", "waituntil", "hideuntil"]),
    ("reminderDate", ["reminder", "reminderdate", "remindat", "reminddate", "alarm"]),
    // Some programs have dates and their times in columns of their own, and reminders that are off.
    ("dueTime", ["duetime", "timedue"]),
    ("reminderTime", ["remindertime", "remindtime", "alarmtime"]),
    ("reminderOn", ["reminderon/off", "reminderset", "hasreminder"]),
    ("done", ["done", "completed", "complete", "iscompleted", "isdone", "finished", "checked"]),
    ("state", ["state", "status"]),
    (
      "completedAt",
      ["completedat", "completedon", "completeddate", "completiondate", "datecompleted", "completedtime", "finishedat"]
    ),
    ("createdAt", ["createdat", "created", "createdon", "createddate", "creationdate", "datecreated", "createdtime"]),
    ("priority", ["priority", "prio", "importance", "urgency"]),
    ("tags", ["tags", "tag", "labels", "label", "contexts", "context", "categories", "keywords"]),
    ("recurrence", ["recurrence", "recurring", "repeat", "repeats", "repeatrule", "rrule"]),
  ]

  /// The column that a heading means; `nil` if it is not one of the usual names.
  static func column(_ heading: String) -> String? {
    let name = key(heading)
    return names.first { $0.names.contains(name) }?.column
  }

  /// A heading without what does not count.
  static func key(_ heading: String) -> String { String(heading.lowercased().filter { !" _-\t\u{A0}".contains($0) }) }

  /// Whether a line names the columns of a table of tasks: two cells or more, one of them a title.
  static func isHead(_ line: Substring) -> Bool {
    let cells = line.split(whereSeparator: { ",;\t".contains($0) }).map { $0.filter { $0 != "\"" } }
    return cells.count > 1 && cells.contains { column(String($0).trimmed) == "text" }
      && cells.allSatisfy { $0.count <= 40 } && cells.count { column(String($0).trimmed) != nil } > 1
  }
}

/// A row of a table of tasks, with a column for each field and one for each attribute that is a text.
struct TableRecord: ForeignRecord {
  static let extensionColumn = "tally"
  static let listColumn = "list"
  /// The start day, or `someday`.
  static let startColumn = "startDay"
  /// The fields with a column; `title` is another name of `text`.
  static let fields = TaskField.shown.filter { ![.series, .attributes, .startDay, .someday].contains($0) }
  /// The columns of every table, in order.
  static let columns: [String] = fields.filter(\.isAlwaysWritten).flatMap { field in
    field == .listID ? [listColumn, "\(field.name)"] : ["\(field.name)"]
  }
  /// The columns of fields that only the tables have whose tasks have them.
  static let rareColumns = fields.filter { !$0.isAlwaysWritten }.map { "\($0.name)" } + [startColumn]

  /// The cells that are not empty, by column.
  var cells: [String: String]

  var exact: String? {
    get { cells[Self.extensionColumn] }
    set { cells[Self.extensionColumn] = newValue }
  }
}

extension TableRecord {
  init(_ task: TaskItem, in list: String?, _ context: FormatContext) {
    cells = [:]
    for field in Self.fields { cells["\(field.name)"] = task.documentValue(of: field).map(Self.text) }
    if context.options.isPlain { cells["recurrence"] = Self.plainRecurrence(of: task, context) }
    cells[Self.listColumn] = list.map(Self.plain)
    cells[Self.startColumn] = task.start.map { $0.day?.iso8601 ?? TableValue.someday }
    for (name, value) in task.attributes where Self.isColumn(name) {
      if case .text(let text) = value { cells[name] = Self.plain(text) }
    }
    cells = cells.filter { !$0.value.isEmpty }
  }

  /// The recurrence of a task whose place in its series is not written: the number of the tasks to come, and none for a
  /// closed task of a stored series, as the open one goes on.
  private static func plainRecurrence(of task: TaskItem, _ context: FormatContext) -> String? {
    if task.isClosed, context.series(of: task) != nil { return nil }
    guard task.isOpen, case .rule(let rule)? = task.recurrence, let place = task.series,
      let series = context.series(of: task) ?? TaskSeries(describedBy: task, in: context.timeZone)
    else { return task.recurrence?.text }
    return Recurrence.rule(series.rest(of: rule, at: place, from: place.occurrence) ?? rule).text
  }

  /// Whether an attribute has a column of its name.
  static func isColumn(_ name: String) -> Bool {
    let isOwn = ownNames.contains(name.lowercased())
    return !isOwn && plain(name).utf8.elementsEqual(name.utf8) && !name.contains("\n") && name.trimmed == name
  }

  private static let ownNames = Set((columns + rareColumns + [extensionColumn, "title"]).map { $0.lowercased() })

  /// A text without the control characters that spreadsheets lose.
  private static func plain(_ text: String) -> String { text.blanking { $0.isControl && $0 != "\n" && $0 != "\t" } }

  private static func text(_ value: FieldValue) -> String {
    switch value {
    case .text(let text): plain(text)
    case .state(let state): state.name
    case .integer(let number): String(number)
    case .instant(let instant): instant.iso8601
    case .offsetInstant(let instant): instant.iso8601
    case .day(let day): day.iso8601
    case .id(let id): id.uuidString.lowercased()
    case .priority(let priority): priority.name
    case .tags(let tags): plain(tags.joined(separator: ","))
    case .recurrence(let recurrence): recurrence.text
    case .ids(let ids): ids.map { $0.uuidString.lowercased() }.joined(separator: ",")
    case .reminders(let reminders): reminders.map(\.text).joined(separator: ", ")
    case .series, .attributes, .flag: ""
    }
  }

  func document(_ context: FormatContext) -> TaskDocument {
    var document = TaskDocument()
    document.attributes = [:]
    let cells = joiningTimes(into: &document, context)
    for field in Self.fields {
      guard let cell = cells["\(field.name)"] else {
        if field.isOptional { document[field] = nil }
        continue
      }
      if let value = TableValue.value(field, cell, context) {
        document[field] = value
      } else {
        if field.isOptional { document[field] = nil }
        document.storeImported(cell, of: "\(field.name)", remark: TableValue.kind(of: field), context)
      }
    }
    if !document.has(.text), let title = cells["title"] { document[.text] = .text(title) }
    document.listName = cells[Self.listColumn]
    readDue(cells["due"], into: &document, context)
    readStart(cells[Self.startColumn], into: &document, context)
    readState(into: &document, context)
    let others = cells.filter { Self.isColumn($0.key) && !Self.usualColumns.contains($0.key) }
    document.attributes.merge(others.mapValues { .text($0) }) { $1 }
    return document
  }

  /// The columns of dates.
  static let dateColumns: Set = [
    "due", "dueDate", "dueDay", "scheduledDate", startColumn, "reminderDate", "done", "completedAt", "createdAt",
    "updatedAt", "cancelledAt",
  ]

  /// The columns that contain several fields.
  static let usualColumns: Set = ["due", "done", "dueTime", "reminderTime", "reminderOn"]

  /// The cells with each time joined to its date, and without a reminder that is off.
  private func joiningTimes(into document: inout TaskDocument, _ context: FormatContext) -> [String: String] {
    var cells = cells
    for (column, timeColumn) in [("due", "dueTime"), ("reminderDate", "reminderTime")] {
      guard let time = cells[timeColumn] else { continue }
      let joined = cells[column].map { "\($0) \(time)" }
      if let joined, case .instant? = WrittenDate(joined, context) {
        cells[column] = joined
      } else {
        document.storeImported(time, of: timeColumn, remark: "date", context)
      }
    }
    if let isOn = cells["reminderOn"].flatMap(TableValue.isDone) {
      // The program offers the date; nobody wants to be reminded then.
      if !isOn { cells["reminderDate"] = nil }
    } else if let text = cells["reminderOn"] {
      document.storeImported(text, of: "reminderOn", remark: "value", context)
    }
    return cells
  }

  /// A column for due days and due dates alike.
  private func readDue(_ cell: String?, into document: inout TaskDocument, _ context: FormatContext) {
    guard let cell else { return }
    let isFree = document[.dueDay] == nil && document[.dueDate] == nil
    if isFree, let date = WrittenDate(cell, context) {
      document.setDue(date)
    } else {
      document.storeImported(cell, of: "due", remark: "date", context)
    }
  }

  private func readStart(_ cell: String?, into document: inout TaskDocument, _ context: FormatContext) {
    let day = cell.flatMap { WrittenDate($0, context)?.day(context) }
    let isSomeday = (cell ?? cells["state"]).map { TableHeading.key($0) == TableValue.someday } ?? false
    document.start = day.map { .day($0) } ?? (isSomeday ? .someday : nil)
    guard let cell, document.start == nil else { return }
    document.storeImported(cell, of: Self.startColumn, remark: "date", context)
  }

  /// The state, by its own column, by one of done ones, or by the time of completion.
  private func readState(into document: inout TaskDocument, _ context: FormatContext) {
    if let cell = cells["done"] {
      if let isDone = TableValue.isDone(cell) {
        if !document.has(.state) { document[.state] = .state(isDone ? .completed : .notStarted) }
      } else if let date = WrittenDate(cell, context) {
        if !document.has(.state) { document[.state] = .state(.completed) }
        if document[.completedAt] == nil {
          document[.completedAt] = .offsetInstant(TableValue.completion(date, context))
        }
      } else {
        document.storeImported(cell, of: "done", remark: "state", context)
      }
    }
    if document[.state] == .state(.cancelled) {
      let time = document[.cancelledAt]?.offsetInstant ?? document[.completedAt]?.offsetInstant
      if time == nil { document.latestCompletion = .latest }
      return document.setState(.cancelled, at: time ?? context.undatedCompletion)
    }
    document[.cancelledAt] = nil
    if !document.has(.state), document[.completedAt] != nil { document[.state] = .state(.completed) }
    if document[.state] == .state(.completed), document[.completedAt] == nil {
      document[.completedAt] = .offsetInstant(context.undatedCompletion)
      document.latestCompletion = .latest
    }
    // A spreadsheet changes the state and leaves the time.
    if document.has(.state), document[.state] != .state(.completed) { document[.completedAt] = nil }
  }
}

extension TaskDocument {
  /// Stores a cell that is not understood, and adds a remark about it.
  fileprivate mutating func storeImported(
    _ cell: String, of column: String, remark kind: String, _ context: FormatContext
  ) {
    store(cell, as: "\(column) as imported", remark: kind, "\(column): \(cell)", context)
  }
}

/// The values of cells, as Tally writes them and as people and other programs do.
enum TableValue {
  /// The value of a field; `nil` for a text that means none.
  static func value(_ field: TaskField, _ text: String, _ context: FormatContext) -> FieldValue? {
    switch field.kind {
    case .text: .text(text)
    case .state: state(text).map { .state($0) }
    case .integer: Int64(text.trimmed).map { .integer($0) }
    case .instant:
      ((try? Timestamp(iso8601: text)) ?? WrittenDate(text, context)?.instant(context)).map { .instant($0) }
    case .offsetInstant: offsetInstant(text, context).map { .offsetInstant($0) }
    case .day: WrittenDate(text, context).map { .day($0.day(context)) }
    case .id: UUID(uuidString: text.trimmed).map { .id($0) }
    case .priority: priority(text).map { .priority($0) }
    case .recurrence: recurrence(text).map { .recurrence($0) }
    case .tags, .series, .attributes, .flag: .tags(TagSet(text.split { ",;|".contains($0) }.map(String.init)))
    case .ids: ids(text).map { .ids($0) }
    case .reminders: reminders(text).map { .reminders($0) }
    }
  }

  /// Reminders with commas between them; `nil` if one is none.
  private static func reminders(_ text: String) -> ReminderSet? {
    let texts = text.split(separator: ",").map { String($0).trimmed }
    let reminders = texts.compactMap { try? Reminder(text: $0) }
    return reminders.isEmpty || reminders.count < texts.count ? nil : ReminderSet(reminders).allowed
  }

  /// The remark's kind for a bad value of a field.
  static func kind(of field: TaskField) -> String {
    switch field.kind {
    case .instant, .offsetInstant, .day: "date"
    case .priority: "priority"
    case .recurrence: "recurrence"
    case .state: "state"
    case .id: "id"
    case .ids: "dependency"
    case .reminders: "reminder"
    default: "value"
    }
  }

  private static func offsetInstant(_ text: String, _ context: FormatContext) -> OffsetTimestamp? {
    (try? OffsetTimestamp(iso8601: text)) ?? WrittenDate(text, context).map { completion($0, context) }
  }

  /// The completion time for a written date; noon for a day.
  static func completion(_ date: WrittenDate, _ context: FormatContext) -> OffsetTimestamp {
    switch date {
    case .day(let day): context.noon(of: day)
    case .instant(let instant): OffsetTimestamp(instant, in: context.timeZone)
    }
  }

  /// The state of a task without a day on which it starts.
  static let someday = "someday"

  private static func state(_ text: String) -> TaskState? {
    if let state = try? TaskState(name: text) { return state }
    switch TableHeading.key(text) {
    case "active", "started", "inprogress", "doing", "next": return .active
    case "todo", "open", "notstarted", "pending", "needsaction", "new", "0", "backlog", "normal", someday:
      return .notStarted
    default: return isCancelled(text) ? .cancelled : isDone(text) == true ? .completed : nil
    }
  }

  /// Whether a text says that a task is closed without being done.
  static func isCancelled(_ text: String) -> Bool {
    ["cancelled", "canceled", "abandoned", "wontdo", "won'tdo", "dropped"].contains(TableHeading.key(text))
  }

  /// Whether a text means done; `nil` if it says nothing about that.
  static func isDone(_ text: String) -> Bool? {
    switch TableHeading.key(text) {
    case "yes", "y", "true", "1", "x", "✓", "✔", "✅", "☑", "[x]", "done", "completed", "complete", "finished", "closed",
      "ja",
      "oui":
      true
    case "no", "n", "false", "0", "-", "", "[]", "☐", "open", "todo", "notdone", "incomplete", "nein", "non": false
    default: nil
    }
  }

  private static func priority(_ text: String) -> Priority? {
    switch TableHeading.key(text) {
    case "high", "h", "urgent", "highest", "critical", "p1", "a", "1", "!!!": .high
    case "medium", "m", "med", "normal", "p2", "b", "2", "!!": .medium
    case "low", "l", "lowest", "p3", "c", "3", "!": .low
    case "none", "no", "p4", "0": Priority.none
    default: nil
    }
  }

  /// Ids with commas, semicolons, bars or blanks between them; `nil` for a text with anything else.
  static func ids(_ text: String) -> TaskIDSet? {
    let parts = text.split { ",;| ".contains($0) }
    let ids = parts.compactMap { UUID(uuidString: String($0)) }
    return ids.count == parts.count && !ids.isEmpty ? TaskIDSet(ids) : nil
  }

  private static func recurrence(_ text: String) -> Recurrence? {
    let rule = text.hasPrefix("RRULE:") ? String(text.dropFirst(6)) : text
    return (try? Recurrence(text: rule)) ?? (try? Recurrence(phrase: rule))
  }
}
