internal import Foundation
internal import Tally

/// A row of a table of tasks, with a column for each field and one for each attribute that is a text.
struct TableRecord: ForeignRecord {
  static let extensionColumn = "tally"
  static let listColumn = "list"
  /// The fields with a column; `title` is another name of `text`.
  static let fields = TaskField.all.filter { $0 != .series && $0 != .attributes }
  /// The columns of every table, in order.
  static let columns: [String] = fields.flatMap { field in
    field == .listID ? [listColumn, "\(field.name)"] : ["\(field.name)"]
  }

  /// The cells that are not empty, by column.
  var cells: [String: String]

  static func isLocal(_ task: TaskItem) -> Bool { false }

  var exact: String? {
    get { cells[Self.extensionColumn] }
    set { cells[Self.extensionColumn] = newValue }
  }

  init(cells: [String: String]) {
    self.cells = cells
  }

  init(_ task: TaskItem, in list: String?, _ context: FormatContext) {
    cells = [:]
    for field in Self.fields { cells["\(field.name)"] = task[field].map(Self.text) }
    cells[Self.listColumn] = list.map(Self.plain)
    for (name, value) in task.attributes where Self.isColumn(name) {
      if case .text(let text) = value { cells[name] = Self.plain(text) }
    }
    cells = cells.filter { !$0.value.isEmpty }
  }

  /// Whether an attribute has a column of its name.
  static func isColumn(_ name: String) -> Bool {
    let isOwn = ownNames.contains(name.lowercased())
    return !isOwn && plain(name).utf8.elementsEqual(name.utf8) && !name.contains("\n") && name.trimmed == name
  }

  private static let ownNames = Set((columns + [extensionColumn, "title"]).map { $0.lowercased() })

  /// A text without the control characters that spreadsheets do not keep.
  private static func plain(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { $0.value < 0x20 && $0 != "\n" && $0 != "\t" || $0.value == 0x7F ? " " : $0 }))
  }

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
    case .series, .attributes: ""
    }
  }
}

extension TableRecord {
  func document(_ context: FormatContext) throws -> TaskDocument {
    var document = TaskDocument()
    var attributes: [String: AttributeValue] = [:]
    let cells = joiningTimes(&attributes, context)
    for field in Self.fields {
      guard let cell = cells["\(field.name)"] else {
        if field.isOptional { document[field] = nil }
        continue
      }
      if let value = TableValue.value(field, cell, context) {
        document[field] = value
      } else {
        if field.isOptional { document[field] = nil }
        attributes["\(field.name) as imported"] = .text(cell)
        context.remarks.add(TableValue.kind(of: field), "\(field.name): \(cell)")
      }
    }
    if !document.has(.text), let title = cells["title"] { document[.text] = .text(title) }
    document.listName = cells[Self.listColumn]
    readDue(cells["due"], into: &document, &attributes, context)
    readState(into: &document, &attributes, context)
    for (name, text) in cells where Self.isColumn(name) && !Self.usualColumns.contains(name) {
      attributes[name] = .text(text)
    }
    document.set(attributes)
    return document
  }

  /// The columns of dates.
  static let dateColumns: Set = [
    "due", "dueDate", "dueDay", "scheduledDate", "reminderDate", "done", "completedAt", "createdAt", "updatedAt",
  ]

  /// The columns that stand for several fields.
  static let usualColumns: Set = ["due", "done", "dueTime", "reminderTime", "reminderOn"]

  /// The cells with each time joined to its date, and without a reminder that is off.
  private func joiningTimes(
    _ attributes: inout [String: AttributeValue], _ context: FormatContext
  ) -> [String: String] {
    var cells = cells
    for (column, timeColumn) in [("due", "dueTime"), ("reminderDate", "reminderTime")] {
      guard let time = cells[timeColumn] else { continue }
      let joined = cells[column].map { "\($0) \(time)" }
      if let joined, case .instant? = WrittenDate(joined, context) {
        cells[column] = joined
      } else {
        attributes["\(timeColumn) as imported"] = .text(time)
        context.remarks.add("date", "\(timeColumn): \(time)")
      }
    }
    if let isOn = cells["reminderOn"].flatMap(TableValue.isDone) {
      // The program offers the date; nobody wants to be reminded then.
      if !isOn { cells["reminderDate"] = nil }
    } else if let text = cells["reminderOn"] {
      attributes["reminderOn as imported"] = .text(text)
      context.remarks.add("value", "reminderOn: \(text)")
    }
    return cells
  }

  /// A column for due days and due dates alike.
  private func readDue(
    _ cell: String?, into document: inout TaskDocument, _ attributes: inout [String: AttributeValue],
    _ context: FormatContext
  ) {
    guard let cell else { return }
    let isFree = document[.dueDay] == nil && document[.dueDate] == nil
    switch isFree ? WrittenDate(cell, context) : nil {
    case .day(let day)?: document[.dueDay] = .day(day)
    case .instant(let instant)?: document[.dueDate] = .instant(instant)
    case nil:
      attributes["due as imported"] = .text(cell)
      context.remarks.add("date", "due: \(cell)")
    }
  }

  /// The state, by its own column, by one of done ones, or by the time of completion.
  private func readState(
    into document: inout TaskDocument, _ attributes: inout [String: AttributeValue], _ context: FormatContext
  ) {
    if let cell = cells["done"] {
      if let isDone = TableValue.isDone(cell) {
        if !document.has(.state) { document[.state] = .state(isDone ? .completed : .notStarted) }
      } else if let date = WrittenDate(cell, context) {
        if !document.has(.state) { document[.state] = .state(.completed) }
        if document[.completedAt] == nil {
          document[.completedAt] = .offsetInstant(TableValue.completion(date, context))
        }
      } else {
        attributes["done as imported"] = .text(cell)
        context.remarks.add("state", "done: \(cell)")
      }
    }
    if let cell = cells["state"], TableValue.isCancelled(cell) { attributes["STATUS"] = "CANCELLED" }
    if !document.has(.state), document[.completedAt] != nil { document[.state] = .state(.completed) }
    if document[.state] == .state(.completed), document[.completedAt] == nil {
      document[.completedAt] = .offsetInstant(context.undatedCompletion)
      document.latestCompletion = .latest
    }
    // A spreadsheet changes the state and leaves the time.
    if document.has(.state), document[.state] != .state(.completed) { document[.completedAt] = nil }
  }
}
