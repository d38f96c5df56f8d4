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
    for field in Self.fields {
      let cell = cells["\(field.name)"]
      guard let cell else {
        if field.isOptional { document[field] = nil }
        continue
      }
      document[field] = try Self.value(field, cell)
    }
    if !document.has(.text), let title = cells["title"] { document[.text] = .text(title) }
    document.listName = cells[Self.listColumn]
    if !document.has(.state), document[.completedAt] != nil { document[.state] = .state(.completed) }
    if document[.state] == .state(.completed), document[.completedAt] == nil {
      document[.completedAt] = .offsetInstant(OffsetTimestamp(context.now, in: context.timeZone))
      document.latestCompletion = .latest
    }
    // A spreadsheet changes the state and leaves the time.
    if document.has(.state), document[.state] != .state(.completed) { document[.completedAt] = nil }
    var attributes: [String: AttributeValue] = [:]
    for (name, text) in cells where Self.isColumn(name) { attributes[name] = .text(text) }
    document.set(attributes)
    return document
  }

  private static func value(_ field: TaskField, _ text: String) throws -> FieldValue {
    do {
      switch field.kind {
      case .text: return .text(text)
      case .state: return .state(try TaskState(name: text))
      case .integer: return .integer(try number(text))
      case .instant: return .instant(try Timestamp(iso8601: text))
      case .offsetInstant: return .offsetInstant(try OffsetTimestamp(iso8601: text))
      case .day: return .day(try CalendarDay(iso8601: text))
      case .id: return .id(try id(text))
      case .priority: return .priority(try Priority(name: text.lowercased()))
      case .recurrence: return .recurrence(try Recurrence(text: text))
      case .tags, .series, .attributes: return .tags(TagSet(text.split(separator: ",").map(String.init)))
      }
    } catch {
      throw TallyError(error.code, "The value of \(field.name) is refused: \(error.message)", remedy: error.remedy)
    }
  }

  private static func number(_ text: String) throws(TallyError) -> Int64 {
    if let number = Int64(text) { return number }
    throw TallyError(.malformedDocument, "It is not a whole number", remedy: "Write a whole number")
  }

  private static func id(_ text: String) throws(TallyError) -> UUID {
    if let id = UUID(uuidString: text) { return id }
    throw TallyError(.malformedDocument, "It is not a UUID", remedy: "Leave it empty for a new task")
  }
}
