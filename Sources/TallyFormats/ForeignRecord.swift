import Foundation
import Tally
import TallyEngine

/// A task in the form of another format: a line, an object, a component.
///
/// Formats say less than Tally does: whole seconds, days, no zones. The values that a format loses are written next to
/// it, as JSON in an extension of the format. They count as long as the rest still says what Tally wrote: another
/// program that changes a due date wins over the exact date next to it. Writing the task again and comparing it field
/// by field shows the lost values, so no format has to list them.
protocol ForeignRecord {
  /// Writes the values that the format can express.
  init(_ task: TaskItem, in list: String?, _ context: FormatContext)

  /// The document in the format's own words; a value that is not understood becomes an attribute, with a remark.
  func document(_ context: FormatContext) -> TaskDocument

  /// The extension: fields of the task as JSON.
  var exact: String? { get set }

  /// Whether the record has days that other time zones would read as others; false unless implemented.
  static func isLocal(_ task: TaskItem) -> Bool
  /// Whether a field that the format cannot express is left out nevertheless.
  static func omits(_ field: TaskField, of task: TaskItem, _ context: FormatContext) -> Bool
  /// Whether the format itself has the days that a series leaves out, and its zone; false unless implemented.
  static var hasSeries: Bool { get }
}

extension ForeignRecord {
  static func isLocal(_ task: TaskItem) -> Bool { false }
  static func omits(_ field: TaskField, of task: TaskItem, _ context: FormatContext) -> Bool { false }
  static var hasSeries: Bool { false }

  /// Fields that exclude each other or belong together: both are exact, or neither.
  private static var groups: [[TaskField]] {
    [[.dueDate, .dueDay], [.state, .completedAt, .cancelledAt], [.recurrence, .series], [.startDay, .someday]]
  }

  /// The record of a task, with everything that the format's own words lose.
  static func exporting(_ task: TaskItem, in list: String?, _ context: FormatContext) -> Self {
    if context.options.isPlain {
      var plain = task
      plain.attributes = plain.attributes.filter { !$0.key.isNameOfTally }
      let record = Self(plain, in: list, context)
      record.nameLosses(of: plain, in: list, context)
      return record
    }
    var record = Self(task, in: list, context)
    let plain = context.remarks.discarding { record.document(context) }
    let lost = lost(of: task, in: plain, context)
    let groups = groups.filter { !$0.allSatisfy { !lost.contains($0) } }
    let fields = TaskField.shown.filter { field in
      lost.contains(field) || groups.contains { $0.contains(field) } && (field.isAlwaysWritten || task[field] != nil)
    }
    var surroundings = TaskDocument.Surroundings()
    if !plain.listName.isIdentical(to: list) { surroundings.list = .some(list) }
    // The times of a series are by the clock, so elsewhere they would be others.
    if isLocal(task) || context.series(of: task) != nil { surroundings.zone = context.timeZone.identifier }
    // A series has one open task, as a rule.
    if task.isOpen { surroundings.series = context.series(of: task).flatMap { SeriesValues(of: $0, besides: task) } }
    let isAlone = surroundings.list == nil && surroundings.zone == nil && surroundings.series == nil
    if !fields.isEmpty || !isAlone {
      record.exact = TaskDocument.text(of: task, fields, surroundings).withoutControls
    }
    return record
  }

  /// The fields in which a task differs from its record, read again.
  private static func lost(of task: TaskItem, in plain: TaskDocument, _ context: FormatContext) -> [TaskField] {
    TaskField.shown.filter { field in
      !omits(field, of: task, context) && !task.documentValue(of: field).isIdentical(to: plain[field])
    }
  }

  /// Adds to the account what the record does not say of its task, apart from what no person has written.
  private func nameLosses(of task: TaskItem, in list: String?, _ context: FormatContext) {
    let plain = context.remarks.discarding { document(context) }
    let unwritten: [TaskField] = [.id, .listID, .series, .sortOrder, .createdAt, .updatedAt]
    for field in Self.lost(of: task, in: plain, context) where !unwritten.contains(field) {
      if task.documentValue(of: field) != nil { context.losses.add("\(field.name)", task.title) }
    }
    if let list, !plain.listName.isIdentical(to: list), !Self.omits(.listID, of: task, context) {
      context.losses.add("list", task.title)
    }
    guard !Self.hasSeries, task.isOpen, let series = context.series(of: task) else { return }
    if !series.skippedDays.isEmpty || series.timeZoneIdentifier != nil { context.losses.add("series", task.title) }
  }

  /// The document of the record, with the exact values that are still valid.
  func importing(_ context: FormatContext) -> TaskDocument {
    guard let exact else { return document(context) }
    guard let (exactly, surroundings) = try? TaskDocument.read(exact) else {
      context.remarks.add("extension", exact)
      return document(context)
    }
    let list = surroundings.list
    var context = context.in(surroundings.zone)
    let found = document(context)
    var (document, task) = (found, found.task)
    for field in TaskField.shown where exactly.has(field) { task[field] = exactly[field] }
    task.dropRepeatedReminder()
    var series = surroundings.series?.series(of: task)
    // A closed task of a stored series is written without its rule.
    if task.isClosed, found[.recurrence] == nil { series = TaskSeries(describedBy: task, in: .gmt) }
    if let series { context.series = [series.id: series] }
    let rewritten = context.remarks.discarding {
      Self(task, in: list ?? document.listName, context).document(context)
    }
    for field in TaskField.shown where exactly.has(field) {
      let group = Self.groups.first { $0.contains(field) } ?? [field]
      guard group.allSatisfy({ rewritten[$0].isIdentical(to: found[$0]) }) else { continue }
      document[field] = exactly[field]
    }
    let isSameSeries = [TaskField.recurrence, .series].allSatisfy { rewritten[$0].isIdentical(to: found[$0]) }
    if isSameSeries, let values = surroundings.series {
      document.seriesValues = values
      document.letFloat(in: context.timeZone)
    }
    if let list, rewritten.listName.isIdentical(to: document.listName) { document.listName = list }
    // The id of the list counts as long as there is a name.
    if document.listName == nil { document[.listID] = nil }
    return document
  }
}

extension FieldValue? {
  /// Whether two values are the same byte for byte: `==` is true for texts that Unicode considers equivalent.
  fileprivate func isIdentical(to other: FieldValue?) -> Bool {
    // Not by the stored bytes: a document may have names and tags that are too long to be stored.
    switch (self, other) {
    case (.text(let left)?, .text(let right)?): left.utf8.elementsEqual(right.utf8)
    case (.tags(let left)?, .tags(let right)?): left.elementsEqual(right) { $0.utf8.elementsEqual($1.utf8) }
    case (.attributes(let left)?, .attributes(let right)?):
      left == right && left.allSatisfy { name, value in value.isIdentical(to: right[name]) }
    default: self == other
    }
  }
}

extension String? {
  fileprivate func isIdentical(to other: String?) -> Bool { map { Array($0.utf8) } == other.map { Array($0.utf8) } }
}

extension AttributeValue {
  fileprivate func isIdentical(to other: AttributeValue?) -> Bool {
    guard case .text(let left) = self, case .text(let right)? = other else { return self == other }
    return left.utf8.elementsEqual(right.utf8)
  }
}

extension String {
  /// JSON without control characters and separators of lines, which are in texts alone, where an escape says the same.
  fileprivate var withoutControls: String {
    unicodeScalars.reduce(into: "") { text, scalar in
      if scalar == " " || !scalar.properties.isWhitespace && scalar.properties.generalCategory != .control {
        text.unicodeScalars.append(scalar)
      } else {
        text += scalar.escapedInJSON
      }
    }
  }
}

extension Unicode.Scalar {
  /// The escape of a scalar of the basic plane.
  var escapedInJSON: String { "\\u" + String(value + 0x10000, radix: 16).dropFirst() }
}

extension TaskDocument {
  /// Sets the state with the time at which the task was completed or cancelled; an open task has none.
  mutating func setState(_ state: TaskState, at time: OffsetTimestamp?) {
    self[.state] = .state(state)
    self[.completedAt] = state == .completed ? time.map { .offsetInstant($0) } : nil
    self[.cancelledAt] = state == .cancelled ? time.map { .offsetInstant($0) } : nil
  }

  /// The attributes; setting them makes the field present, without a value if there are none.
  var attributes: [String: AttributeValue] {
    get { self[.attributes]?.attributes ?? [:] }
    set { self[.attributes] = newValue.isEmpty ? nil : .attributes(newValue) }
  }

  /// When the task starts; setting it makes both fields present.
  var start: TaskStart? {
    get { task.start }
    set {
      self[.startDay] = newValue?.day.map { .day($0) }
      self[.someday] = newValue == .someday ? .flag(true) : nil
    }
  }

  /// Sets the due day or the due date.
  mutating func setDue(_ date: WrittenDate) {
    switch date {
    case .day(let day): self[.dueDay] = .day(day)
    case .instant(let instant): self[.dueDate] = .instant(instant)
    }
  }

  /// Stores a text that no field can have as an attribute, and adds a remark of a kind about it.
  mutating func store(_ text: String, as name: String, remark kind: String, _ example: String, _ context: FormatContext)
  {
    attributes[name] = .text(text)
    context.remarks.add(kind, example)
  }
}

extension String {
  /// Whether an attribute of the name is a note of Tally's own, such as that of a snooze.
  var isNameOfTally: Bool { hasPrefix("tally.") }

  /// The text with a blank in place of each of some scalars.
  func blanking(_ isReplaced: (Unicode.Scalar) -> Bool) -> String {
    String(String.UnicodeScalarView(unicodeScalars.map { isReplaced($0) ? " " : $0 }))
  }
}

extension Unicode.Scalar {
  /// Whether it is a control character of ASCII.
  var isControl: Bool { value < 0x20 || value == 0x7F }
}

/// The store's calendar and clock, by which local times of a format become instants.
struct FormatContext: Sendable {
  private(set) var calendar: Calendar
  let now: Timestamp
  /// The lists that share their name with another one, which an export must name by their ids.
  var ambiguousLists: Set<UUID> = []
  /// The series that are stored, or come with the record that is read, by their ids.
  var series: [UUID: TaskSeries] = [:]
  /// The `RECURRENCE-ID` of the to-dos that the document describes beside their series, by the series' UID.
  var occurrences: [String: [ContentLine]] = [:]
  /// Whether the caller has said how dates are written.
  let hasDateOrder: Bool
  /// The facts about the document that the caller knows.
  var options = FormatOptions()
  /// The log in which a reader reports values that it does not understand.
  var remarks = RemarkLog()
  /// The log in which a writer without an extension counts what its format cannot express.
  var losses = RemarkLog()

  /// The context of an export.
  init(calendar: Calendar, now: Timestamp, lists: [TaskList], series: [TaskSeries], options: FormatOptions) {
    self.init(calendar: calendar, now: now, options: options)
    self.series = Dictionary(series.map { ($0.id, $0) }) { first, _ in first }
    let byName = Dictionary(grouping: lists, by: \.name)
    ambiguousLists = Set(byName.values.filter { $0.count > 1 }.flatMap { $0 }.map(\.id))
  }

  init(calendar: Calendar, now: Timestamp, options: FormatOptions) {
    (self.calendar, self.now, self.options) = (calendar, now, options)
    hasDateOrder = options.dateOrder != nil
    self.options.dateOrder = options.dateOrder ?? options.usualDateOrder
  }

  var timeZone: TimeZone { calendar.timeZone }

  /// The stored series of a task; `nil` for a task that does not repeat, or describes its series by its own values.
  func series(of task: TaskItem) -> TaskSeries? { task.series.flatMap { series[$0.id] } }

  /// The same in another time zone, if it is known.
  func `in`(_ zone: String?) -> FormatContext {
    guard let zone = zone.flatMap({ TimeZone(identifier: $0) }), zone != timeZone else { return self }
    var context = self
    context.calendar.timeZone = zone
    return context
  }

  /// The same in the zone to which the stored series of a task is fixed, if it is.
  func inZone(ofSeriesOf task: TaskItem) -> FormatContext { self.in(series(of: task)?.timeZoneIdentifier) }

  /// The first instant of a day.
  func start(of day: CalendarDay) -> Timestamp { day.start(in: calendar) }

  /// The day of an instant.
  func day(of instant: Timestamp) -> CalendarDay { CalendarDay(containing: instant, in: calendar) }

  /// The instant that represents a day on which something was done: noon, or now if that is today and has not come yet.
  func noon(of day: CalendarDay) -> OffsetTimestamp {
    let noon = start(of: day).adding(seconds: 43_200)
    return OffsetTimestamp(day == self.day(of: now) ? min(noon, now) : noon, in: timeZone)
  }

  /// The time of completion for a completed task without a date: noon of the given day, or long ago.
  var undatedCompletion: OffsetTimestamp {
    options.completedOn.map(noon) ?? OffsetTimestamp(TaskDocument.longAgo, in: .gmt)
  }

  /// The last instant of a day.
  func end(of day: CalendarDay) -> Timestamp {
    guard let next = try? day.adding(days: 1) else { return .latest }
    return start(of: next).adding(microseconds: -1)
  }
}

/// Counts the values that a reader does not understand by kind, so that memory does not grow with the document.
///
/// Only one reader uses it, on one thread at a time.
final class RemarkLog: @unchecked Sendable {
  private var remarks: [(remark: DocumentRemark, position: TextPosition?)] = []
  /// Whether some text was skipped that belongs to no task.
  private(set) var hasTexts = false
  /// The place that is being read; `nil` for that of its task.
  var position: TextPosition?

  /// Adds a remark of a kind, with an example from the document.
  ///
  /// With `isListed`, every example is listed, not only the first: columns use it, as they are few.
  func add(_ kind: String, _ example: some StringProtocol, at position: TextPosition? = nil, isListed: Bool = false) {
    hasTexts = hasTexts || kind == "text"
    if let index = remarks.firstIndex(where: { $0.remark.kind == kind }) {
      remarks[index].remark.count += 1
      if isListed { remarks[index].remark.list(String(example)) }
    } else {
      remarks.append((DocumentRemark(kind, String(example)), position ?? self.position))
    }
  }

  /// All remarks.
  var all: [DocumentRemark] { remarks.map(\.remark) }

  /// Removes and returns the first remark.
  func removeFirst() -> (DocumentRemark, TextPosition?)? { remarks.isEmpty ? nil : remarks.removeFirst() }

  /// Runs `body`, which reads something only to compare it, and removes the remarks that it added.
  func discarding<R>(_ body: () throws -> R) rethrows -> R {
    let before = remarks
    defer { remarks = before }
    return try body()
  }
}

/// The source of whichever format was asked for.
struct AnySource: DocumentSource {
  private let source: ForeignSource
  /// The task read last, returned after its remarks.
  private var waiting: (TaskDocument, TextPosition)?
  private var isAtEnd = false
  private var hasTasks = false

  init(_ source: ForeignSource) { self.source = source }

  var exportDate: Timestamp? { nil }
  var byteCount: Int64 { source.byteCount }
  var isForeign: Bool { true }

  mutating func next() throws -> (record: DocumentRecord, position: TextPosition)? {
    let remarks = source.context.remarks
    if waiting == nil, !isAtEnd {
      remarks.position = nil
      waiting = try source.nextTask()
      isAtEnd = waiting == nil
      hasTasks = hasTasks || !isAtEnd
      // Line-based formats accept any text. A document with text but no task is refused.
      if isAtEnd, !hasTasks, remarks.hasTexts {
        throw TallyError.malformed("The document has no tasks, only other text", line: 1)
      }
    }
    if let (remark, position) = remarks.removeFirst() {
      return (.remark(remark), position ?? waiting?.1 ?? TextPosition(line: 1, column: 1))
    }
    guard let (task, position) = waiting.take() else { return nil }
    return (.task(task), position)
  }
}

/// Reads the tasks of a document of another format; each format has a subclass.
class ForeignSource {
  final var context: FormatContext
  final var identity: ContentIdentity

  init(_ format: String, _ context: FormatContext) {
    (self.context, identity) = (context, ContentIdentity(format, context))
  }

  /// The bytes read so far.
  var byteCount: Int64 { 0 }

  /// The next task and where it begins; `nil` at the end.
  func nextTask() throws -> (TaskDocument, TextPosition)? { nil }
}

/// Reads tasks from lines.
class LineSource: ForeignSource {
  final var lines: LineReader

  init(_ format: String, _ input: consuming JSONInput, _ context: FormatContext) {
    lines = LineReader(input, context)
    super.init(format, context)
  }

  override var byteCount: Int64 { lines.byteCount }
}

/// Reads tasks from the rows of a table.
class RowSource: ForeignSource {
  final var rows: TableReader
  /// The names of the columns; `nil` before they are read.
  final var columns: [String]?

  init(_ format: String, _ input: consuming JSONInput, _ context: FormatContext) {
    rows = TableReader(input, context)
    super.init(format, context)
  }

  override var byteCount: Int64 { rows.byteCount }

  /// The cells of the next row that are not empty, by column, and where the row begins; `nil` at the end.
  final func nextCells() throws -> (cells: [String: String], position: TextPosition)? {
    guard let row = try rows.next() else { return nil }
    let cells = zip(columns ?? [], row).map { ($0, $1.text) }.filter { !$0.1.isEmpty }
    return (Dictionary(cells) { first, _ in first }, row[0].position)
  }
}

/// Makes ids for records of formats that have none: from the contents, and from an ordinal for equal records.
///
/// So importing a file twice changes nothing. A record that is edited in the file is another one, and so is an equal one in
/// a file of another name.
struct ContentIdentity {
  private let format: String
  private var counts: [UUID: Int] = [:]

  init(_ format: String, _ context: FormatContext) {
    self.format = [format, context.options.source].compactMap(\.self).joined(separator: "\u{1F}")
  }

  /// Sets the id of a task, unless it has one.
  mutating func identify(_ document: inout TaskDocument, by contents: String...) {
    guard !document.has(.id) else { return }
    let key = UUID(namedBy: format, contents.joined(separator: "\u{1F}"))
    let ordinal = counts[key, default: 0]
    counts[key] = ordinal + 1
    document[.id] = .id(ordinal == 0 ? key : UUID(namedBy: key.uuidString, "\(ordinal)"))
    document.isIdentifiedByContent = true
    if document.latestCompletion == nil, document.task.isClosed { document.latestCompletion = .latest }
  }
}
