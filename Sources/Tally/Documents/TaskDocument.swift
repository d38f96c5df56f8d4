package import Foundation
import LMDB
package import TallyEngine

extension TaskField: DocumentKey {
  static let table = DocumentKeyTable<TaskField>()

  var text: String { "\(name)" }
}

/// A task in a document: the fields that are present, with `nil` for those that the document states to be absent.
package struct TaskDocument {
  /// The values of the fields that are present.
  private(set) var values = TaskItem(id: .lowest, title: "", createdAt: .earliest)
  /// The fields that are present, as a bit for each.
  private var present: UInt32 = 0
  /// The number of due dates and due days that were read.
  private var dueCount = 0
  /// The number of start days and starts without a day that were read.
  private var startCount = 0
  /// The name of the task's list, in formats that refer to lists by name; the list is added if it does not exist.
  package var listName: String?
  /// Whether the id is derived from the contents.
  ///
  /// The document then tells nothing new about an existing task, except that it is completed.
  package var isIdentifiedByContent = false
  /// The attribute that keeps the parent if neither the document nor the store has it.
  package var keptParent: (name: String, text: String)?
  /// The values of the task's stored series that the task lacks, in formats that have no series of their own.
  package var seriesValues: SeriesValues?
  /// The days that the document describes as tasks of their own, in addition to the series of the task.
  package var describedDays: Set<CalendarDay> = []
  /// The last instant at which the task may have been completed, in formats that are less exact than an instant.
  package var latestCompletion: Timestamp?

  var id: UUID? { has(.id) ? values.id : nil }
  /// When the task was last changed, if the document says so.
  var updatedAt: Timestamp? { has(.updatedAt) ? values.updatedAt : nil }
  /// The latest time at which the task may have been completed, if it is completed.
  var completionLimit: Timestamp? { latestCompletion ?? values.closedAt?.instant }

  /// The completion time of a completed task without a date: 1 January 1970.
  package static let longAgo = Timestamp(clamping: 0)

  /// Creates a task without any fields.
  package init() {}

  /// The value of a field, `nil` if it is absent from the document or the task; setting a field makes it present.
  package subscript(field: TaskField) -> FieldValue? {
    get { has(field) ? values[field] : nil }
    set {
      values[field] = newValue
      present |= 1 << UInt32(field.rawValue)
    }
  }

  /// Reads a task whose object has just begun; `first` is its first token if that has been read already.
  init(
    from reader: inout JSONReader, at position: TextPosition, after first: JSONReader.Token? = nil, isLenient: Bool
  ) throws {
    try self.init(fieldsFrom: &reader, after: first, isLenient: isLenient)
    guard has(.text) else { throw reader.fault("The task has no text", at: position) }
    if dueCount > 1 { throw reader.fault("The task has a dueDate and a dueDay", at: position) }
    if startCount > 1 { throw reader.fault("The task has a startDay, and is for someday", at: position) }
  }

  /// Reads any fields of a task whose object has just begun.
  init(fieldsFrom reader: inout JSONReader, after first: JSONReader.Token? = nil, isLenient: Bool) throws {
    assert(TaskField.all.allSatisfy { $0.rawValue < UInt32.bitWidth }, "a field without a bit")
    var entries = DocumentEntries(TaskField.self, after: first, isLenient: isLenient)
    var floating: [(field: TaskField, time: FieldValue)] = []
    while let field = try entries.next(from: &reader) {
      let value = try reader.read(field.kind, for: field, orNull: field.isOptional)
      guard let value else {
        // Each key appears once, and nothing else has set the field.
        present |= 1 << UInt32(field.rawValue)
        continue
      }
      if field == .dueDate || field == .dueDay { dueCount += 1 }
      if field == .startDay || value == .flag(true) { startCount += 1 }
      if field.part == .floating { floating.append((field, value)) } else { self[field] = value }
    }
    // A wall-clock time stands for an instant, which may come later in the document.
    for (field, time) in floating { self[field] = time }
  }

  /// Adds the wall-clock times of the open task of a series: those whose instants in a zone the document has.
  ///
  /// - Parameter zone: the zone in which the document was written.
  package mutating func letFloat(in zone: TimeZone) {
    guard let series = seriesValues?.series(of: values), series.id == values.series?.id, values.isOpen else { return }
    var task = values
    task.dropRepeatedReminder()
    values.otherReminders = task.otherReminders
    task.letFloat(in: series, zone)
    for field in TaskField.all where field.part == .floating {
      if let time = task[field] { self[field] = time }
    }
  }

  /// Removes a field, as if the document did not have it.
  mutating func leaveOut(_ field: TaskField) { present &= ~(1 << UInt32(field.rawValue)) }

  package func has(_ field: TaskField) -> Bool { present & 1 << UInt32(field.rawValue) != 0 }
}

extension TaskDocument {
  /// The task that results from the document, replacing a stored one if there is one.
  ///
  /// Missing fields keep their stored values. A new task was created now, or at its completion if that is earlier, and
  /// last changed at the later of its creation and completion; in a new place it goes to the end.
  ///
  /// A change without a date gets the document's date.
  ///
  /// - Throws: what ``TaskItem/validate()`` throws, without a position.
  func task(
    replacing old: TaskItem?, id: UUID, now: Timestamp, date: Timestamp, in calendar: Calendar,
    sortOrder: (TaskItem) throws -> Int64
  ) throws -> TaskItem {
    var task = old ?? values
    if old != nil { for field in TaskField.all where has(field) { task[field] = values[field] } }
    task.dropRepeatedReminder()
    // A second task with the id in the document gets another id.
    task.id = id
    if !has(.completedAt), has(.state) ? !task.isCompleted : values.cancelledAt != nil { task.completedAt = nil }
    if !has(.cancelledAt), has(.state) ? !task.isCancelled : values.completedAt != nil { task.cancelledAt = nil }
    if !has(.state) {
      let open = task.isClosed ? TaskState.notStarted : task.state
      task.state = task.completedAt != nil ? .completed : task.cancelledAt != nil ? .cancelled : open
    }
    // The task is open in the store, so it was completed after the last import: use the current time instead of 1970.
    if let old, task.completedAt?.instant == Self.longAgo {
      task.completedAt = old.completedAt ?? OffsetTimestamp(now, in: calendar.timeZone)
    }
    if let old, task.cancelledAt?.instant == Self.longAgo {
      task.cancelledAt = old.cancelledAt ?? OffsetTimestamp(now, in: calendar.timeZone)
    }
    let completion = task.completedAt?.instant
    if old == nil, !has(.createdAt) { task.createdAt = min(now, completion ?? now) }
    if old == nil, !has(.updatedAt) { task.updatedAt = max(task.createdAt, completion ?? task.createdAt) }
    if has(.series), task.recurrence != nil, let old { task.keepRestart(replacing: old, in: calendar) }
    if !has(.series) || task.recurrence == nil {
      var calendar = calendar
      calendar.timeZone = seriesValues?.describedZone ?? calendar.timeZone
      task.updateSeries(replacing: old, in: calendar)
      task.moveSeries(past: describedDays)
    }
    task.dropStrayStep()
    try task.validate()
    if !has(.sortOrder), old.map({ Place(of: $0) }) != Place(of: task) { task.sortOrder = try sortOrder(task) }
    if let old, !has(.updatedAt), !task.isIdentical(to: old) { task.updatedAt = max(date, old.updatedAt) }
    return task
  }

  /// Writes a whole task from its record, without creating a value: the texts alone would cost two allocations.
  static func write(_ task: TaskFields, id: UUID, to writer: inout JSONWriter) throws(LMDBError) {
    var cursor = task.cursor
    var reminder: Timestamp?
    writer.beginObject()
    for field in TaskField.all {
      let isThere = field.isOptional ? try cursor.advance(to: field.tag) : false
      guard isThere || field.isAlwaysWritten else { continue }
      writer.key(field.name)
      if field.isOptional {
        if field == .reminderDate, isThere { reminder = try cursor.value.storedInstant() }
        if field == .reminders {
          // In a document, the reminders include the one that has a field of its own.
          writer.value(ReminderSet(Array(try ReminderSet(stored: cursor.value)) + (reminder.map { [.at($0)] } ?? [])))
        } else if isThere {
          try writer.value(field.kind, stored: cursor.value)
        } else {
          writer.null()
        }
      } else {
        try writeHead(field, of: task, id, to: &writer)
      }
    }
    writer.endObject()
  }

  private static func writeHead(
    _ field: TaskField, of task: TaskFields, _ id: UUID, to writer: inout JSONWriter
  ) throws(LMDBError) {
    switch field {
    case .id: writer.value(.id(id))
    case .text: writer.value(storedText: task.titleBytes)
    case .state: writer.value(.state(try task.state))
    case .sortOrder: writer.value(.integer(task.sortOrder))
    case .createdAt: writer.value(.instant(try task.createdAt))
    case .updatedAt: writer.value(.instant(try task.updatedAt))
    default: assertionFailure("\(field.name) has a tag")
    }
  }
}

extension JSONWriter {
  /// Writes a stored value.
  fileprivate mutating func value(_ kind: FieldKind, stored bytes: RawSpan) throws(LMDBError) {
    if kind == .text { return value(storedText: bytes) }
    value(try FieldValue(kind, stored: bytes))
  }

  /// Writes the bytes of a stored text as a value.
  fileprivate mutating func value(storedText bytes: RawSpan) {
    // Tally never writes malformed text; if there is any, it is exported as it is displayed.
    guard bytes.isWellFormedText else { return value(.text(bytes.text)) }
    // The buffer does not outlive the closure, and bytes have no padding.
    unsafe bytes.withUnsafeBytes { value(unsafe $0.assumingMemoryBound(to: UInt8.self).span) }
  }

  /// Writes a key and its value, or `null`.
  mutating func entry(_ name: StaticString, _ field: FieldValue?) {
    key(name)
    value(field)
  }
}

extension TaskDocument {
  /// The contents of a record of another format besides the fields of a task.
  package struct Surroundings {
    /// The name of the list; the inner `nil` means no list, the outer one that the record does not say.
    package var list: String??
    /// The time zone of the days in the record.
    package var zone: String?
    /// The values of the task's stored series that the task lacks.
    package var series: SeriesValues?

    package init(list: String?? = nil, zone: String? = nil) {
      (self.list, self.zone) = (list, zone)
    }
  }

  /// Formats some fields of a task as one line of JSON, in the form of the lines of an export.
  package static func text(of task: TaskItem, _ fields: [TaskField], _ surroundings: Surroundings) -> String {
    var writer = JSONWriter(layout: .compact)
    writer.beginObject()
    if let list = surroundings.list { writer.entry("list", list.map { .text($0) }) }
    if let zone = surroundings.zone { writer.entry("zone", .text(zone)) }
    surroundings.series?.write(to: &writer)
    for field in fields {
      writer.key(field.name)
      writer.value(task.documentValue(of: field))
    }
    writer.endObject()
    return String(decoding: writer.takeBytes(), as: UTF8.self)
  }

  /// Parses the form of ``text(of:_:_:)``.
  ///
  /// - Throws: the error of the text, with a position in it.
  package static func read(_ text: String) throws -> (document: TaskDocument, surroundings: Surroundings) {
    var reader = JSONReader(JSONInput(text: text))
    guard try reader.next() == .beginObject else { throw reader.fault("An object is expected here") }
    var surroundings = Surroundings()
    var first = try reader.next()
    let keys = ["list", "zone", SeriesValues.key]
    while first == .key, let key = keys.first(where: { $0.utf8.elementsEqual(reader.text) }) {
      if key == SeriesValues.key {
        surroundings.series = try SeriesValues(from: &reader)
      } else {
        let value = try reader.next() == .string ? String(decoding: reader.text, as: UTF8.self) : nil
        if key == "list" { surroundings.list = .some(value) } else { surroundings.zone = value }
      }
      first = try reader.next()
    }
    let document = try TaskDocument(fieldsFrom: &reader, after: first, isLenient: true)
    _ = try reader.next()
    return (document, surroundings)
  }

  /// The task as far as the document describes it; its id is the lowest one if the document has none.
  package var task: TaskItem {
    var task = values
    task.dropRepeatedReminder()
    return task
  }
}

extension TaskItem {
  /// Moves the place of an open task in its series past some days; the task itself is on another day already.
  fileprivate mutating func moveSeries(past days: Set<CalendarDay>) {
    guard isOpen, case .rule(let rule)? = recurrence, let place = series else { return }
    var (day, index) = (place.occurrence, place.index)
    while days.contains(day), let next = rule.next(after: day, from: place.start) { (day, index) = (next, index + 1) }
    guard day != place.occurrence else { return }
    series = RecurrenceSeries(id: place.id, start: place.start, occurrence: day, index: index)
  }
}

extension JSONInput {
  /// Creates an input from the bytes of a text.
  package init(text: String) {
    var rest = Array(text.utf8)[...]
    self.init { buffer in
      let piece = rest.prefix(buffer.count)
      buffer.replaceSubrange(0..<piece.count, with: piece)
      rest = rest.dropFirst(piece.count)
      return piece.count
    }
  }
}

extension TaskDocument {
  /// Removes a rule that gives no day, whenever its series begins, and keeps its text as an attribute.
  ///
  /// - Returns: What was left out.
  mutating func leaveOutRuleWithoutDays() -> DocumentRemark? {
    guard let recurrence = values.recurrence, recurrence.firstDay(onOrAfter: .earliest) == nil else { return nil }
    self[.recurrence] = nil
    store(recurrence.text, as: "recurrence as imported")
    return DocumentRemark("recurrence", recurrence.text)
  }

  /// Removes values that a task cannot have, so that the rest of the task can be imported.
  ///
  /// - Returns: What was left out.
  mutating func leaveOutInvalid() -> [DocumentRemark] {
    var remarks: [DocumentRemark] = []
    // A task needs a title; a task without one is imported as "Untitled".
    if !has(.text) || self[.text]?.text?.unicodeScalars.allSatisfy(\.properties.isWhitespace) ?? true {
      self[.text] = .text("Untitled")
      remarks.append(DocumentRemark("title", ""))
    }
    if case .tags(let tags)? = self[.tags] {
      let (allowed, others) = tags.allowed
      if allowed != tags { self[.tags] = allowed.isEmpty ? nil : .tags(allowed) }
      remarks += others.map { DocumentRemark("tag", $0) }
      if !others.isEmpty { store(others.joined(separator: ","), as: "tags as imported") }
    }
    if self[.dueDate] != nil, case .day(let day)? = self[.dueDay] {
      remarks.append(DocumentRemark("date", day.iso8601))
      self[.dueDay] = nil
      store(day.iso8601, as: "dueDay as imported")
    }
    if case .attributes(let attributes)? = self[.attributes] {
      let (allowed, others) = AttributeValue.allowed(attributes)
      if !others.isEmpty { self[.attributes] = allowed.isEmpty ? nil : .attributes(allowed) }
      remarks += others.map { DocumentRemark("attribute", $0) }
    }
    if case .integer(let order)? = self[.sortOrder], !TaskItem.sortOrders.contains(order) {
      remarks.append(DocumentRemark("order", "\(order)"))
      leaveOut(.sortOrder)
    }
    if let id, case .ids(var ids)? = self[.dependsOn] {
      let others = Array(ids).filter { $0 == id } + Array(ids).filter { $0 != id }.dropFirst(TaskIDSet.maximumCount)
      for other in others { ids.remove(other) }
      if !others.isEmpty { self[.dependsOn] = ids.isEmpty ? nil : .ids(ids) }
      remarks += others.map { DocumentRemark("dependency", $0.uuidString.lowercased()) }
    }
    if let id, self[.parentID] == .id(id) {
      remarks.append(DocumentRemark("parent", id.uuidString.lowercased()))
      self[.parentID] = nil
    }
    return remarks
  }

  /// The attribute that keeps a missing parent, unless the format has its own attribute for it.
  static func keptParent(_ id: UUID) -> (name: String, text: String) {
    ("parent as imported", id.uuidString.lowercased())
  }

  /// The text of an attribute after a missing parent has been added to it.
  static func attribute(_ value: AttributeValue?, keeping parent: String) -> String {
    guard case .text(let others)? = value, others != parent else { return parent }
    return others + "\n" + parent
  }

  /// Moves a parent that was missing at an earlier import to its attribute again, so that the task does not change.
  ///
  /// - Returns: The parent, which may exist by now; `nil` if it was not missing.
  mutating func setAsideMissingParent(as old: TaskItem?) -> UUID? {
    guard let old, old.parentID == nil, let parentID = self[.parentID]?.id else { return nil }
    let (name, text) = keptParent ?? Self.keptParent(parentID)
    var attributes = self[.attributes]?.attributes ?? [:]
    let kept = Self.attribute(attributes[name], keeping: text)
    guard old.attributes[name] == .text(kept) else { return nil }
    attributes[name] = .text(kept)
    self[.attributes] = .attributes(attributes)
    self[.parentID] = nil
    return parentID
  }

  /// Adds an attribute with a value that does not fit in its field.
  private mutating func store(_ text: String, as name: String) {
    var attributes = self[.attributes]?.attributes ?? [:]
    attributes[name] = .text(text)
    self[.attributes] = .attributes(attributes)
  }
}

extension TagSet {
  /// The tags that are valid after invalid characters are removed, and the tags that do not fit.
  package var allowed: (tags: TagSet, others: [String]) {
    var allowed = TagSet()
    var others: [String] = []
    for tag in self {
      for part in tag.split(separator: ",") {
        let scalars = part.unicodeScalars.filter { $0 != "#" }.map {
          $0.properties.generalCategory == .control ? " " : $0
        }
        let text = Self.trimmed(String(String.UnicodeScalarView(scalars)))
        guard !text.isEmpty, !allowed.contains(text) else { continue }
        let isAllowed = allowed.count < Self.maximumCount && (try? Self.validate(text)) != nil
        if isAllowed { allowed.insert(text) } else { others.append(text) }
      }
    }
    return (allowed, others)
  }
}

extension AttributeValue {
  /// The attributes that are valid for a task, and the names of the others.
  ///
  /// If all attributes together are too large, the largest are removed first.
  fileprivate static func allowed(
    _ attributes: [String: AttributeValue]
  ) -> ([String: AttributeValue], others: [String]) {
    var allowed = attributes.filter { (try? validate([$0.key: $0.value])) != nil }
    var others = attributes.keys.filter { allowed[$0] == nil }.sorted()
    let size = { (name: String) in FieldValue.attributes([name: allowed[name] ?? .text("")]).storedByteCount }
    for name in allowed.keys.sorted(by: { (size($0), $0) > (size($1), $1) }) where (try? validate(allowed)) == nil {
      allowed[name] = nil
      others.append(name)
    }
    return (allowed, others)
  }
}

/// A list as an object of a document; a property is `nil` if the object lacks the key.
package struct ListDocument {
  /// The keys, in the order in which they are written.
  enum Key: String, DocumentKey {
    case id, name, colorHex, sortOrder, createdAt, updatedAt

    static let table = DocumentKeyTable<Key>()
  }

  let id: UUID
  let name: String
  private var colorHex: String?
  private var sortOrder: Int64?
  private var createdAt: Timestamp?
  private(set) var updatedAt: Timestamp?

  init(id: UUID, name: String) {
    (self.id, self.name) = (id, name)
  }
}

extension ListDocument {
  /// Writes a whole list.
  static func write(_ list: TaskList, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.entry("id", .id(list.id))
    writer.entry("name", .text(list.name))
    writer.entry("colorHex", .text(list.colorHex))
    writer.entry("sortOrder", .integer(list.sortOrder))
    writer.entry("createdAt", .instant(list.createdAt))
    writer.entry("updatedAt", .instant(list.updatedAt))
    writer.endObject()
  }

  /// Reads a list whose object has just begun.
  init(from reader: inout JSONReader, isLenient: Bool) throws {
    let position = reader.tokenPosition
    var id: UUID?
    var name: String?
    var entries = DocumentEntries(Key.self, isLenient: isLenient)
    while let key = try entries.next(from: &reader) {
      switch key {
      case .id: id = try reader.read(.id, for: key)?.id
      case .name: name = try reader.read(.text, for: key)?.text
      case .colorHex: colorHex = try reader.read(.text, for: key)?.text
      case .sortOrder: sortOrder = try reader.read(.integer, for: key)?.integer
      case .createdAt: createdAt = try reader.read(.instant, for: key)?.instant
      case .updatedAt: updatedAt = try reader.read(.instant, for: key)?.instant
      }
    }
    // Without an id no task could refer to the list, and each import would create another one.
    guard let id else { throw reader.fault("The list has no id", at: position) }
    guard let name else { throw reader.fault("The list has no name", at: position) }
    (self.id, self.name) = (id, name)
  }

  /// The list that results from the document, replacing a stored one if there is one; missing keys keep stored values.
  ///
  /// - Throws: what ``TaskList/validate()`` throws, without a position.
  func list(
    replacing old: TaskList?, now: Timestamp, date: Timestamp, sortOrder: () throws -> Int64
  ) throws -> TaskList {
    let createdAt = createdAt ?? old?.createdAt ?? now
    var list = TaskList(
      id: id,
      name: name,
      colorHex: colorHex ?? old?.colorHex ?? TaskList.defaultColorHex,
      sortOrder: self.sortOrder ?? old?.sortOrder ?? 0,
      createdAt: createdAt,
      updatedAt: updatedAt ?? old?.updatedAt ?? createdAt
    )
    try list.validate()
    list = list.normalized
    if self.sortOrder == nil, old == nil { list.sortOrder = try sortOrder() }
    if let old, updatedAt == nil, !list.isIdentical(to: old) { list.updatedAt = max(date, old.updatedAt) }
    return list
  }
}

/// A completion as an object of a document: its task has been deleted, or was in another list at the time.
enum CompletionDocument {
  /// The keys, in the order in which they are written.
  enum Key: String, DocumentKey {
    case taskID, completedAt, createdAt, listID, taskDeleted, priority, tags

    static let table = DocumentKeyTable<Key>()
  }

  /// Writes a completion.
  static func write(_ completion: Completion, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.entry("taskID", .id(completion.taskID))
    writer.entry("completedAt", .offsetInstant(completion.completedAt))
    writer.entry("createdAt", .instant(completion.createdAt))
    let classification = completion.classification
    writer.entry("listID", classification.listID.map { .id($0) })
    writer.key("taskDeleted")
    writer.value(completion.isTaskDeleted)
    writer.entry("priority", classification.priority == .none ? nil : .priority(classification.priority))
    writer.entry("tags", classification.tags.isEmpty ? nil : .tags(classification.tags))
    writer.endObject()
  }

  /// Reads a completion whose object has just begun.
  static func read(from reader: inout JSONReader, isLenient: Bool) throws -> Completion {
    let position = reader.tokenPosition
    var taskID: UUID?, completedAt: OffsetTimestamp?, createdAt: Timestamp?, isTaskDeleted: Bool?
    var classification = Classification()
    var entries = DocumentEntries(Key.self, isLenient: isLenient)
    while let key = try entries.next(from: &reader) {
      switch key {
      case .taskID: taskID = try reader.read(.id, for: key)?.id
      case .completedAt: completedAt = try reader.read(.offsetInstant, for: key)?.offsetInstant
      case .createdAt: createdAt = try reader.read(.instant, for: key)?.instant
      case .listID: classification.listID = try reader.read(.id, for: key, orNull: true)?.id
      case .taskDeleted: isTaskDeleted = try reader.readFlag(for: key)
      case .priority: classification.priority = try reader.read(.priority, for: key, orNull: true)?.priority ?? .none
      case .tags: classification.tags = try reader.read(.tags, for: key, orNull: true)?.tags ?? []
      }
    }
    guard let taskID else { throw reader.fault("The completion has no taskID", at: position) }
    guard let completedAt else { throw reader.fault("The completion has no completedAt", at: position) }
    guard let createdAt else { throw reader.fault("The completion has no createdAt", at: position) }
    guard let isTaskDeleted else { throw reader.fault("The completion has no taskDeleted", at: position) }
    do {
      try classification.tags.validate()
    } catch {
      throw error.at(position)
    }
    return Completion(
      taskID: taskID, completedAt: completedAt, createdAt: createdAt, classification: classification,
      isTaskDeleted: isTaskDeleted)
  }
}

/// A saved filter as an object of a document.
enum FilterDocument {
  /// The keys, in the order in which they are written.
  enum Key: String, DocumentKey {
    case name, filter, updatedAt

    static let table = DocumentKeyTable<Key>()
  }

  /// Writes a saved filter.
  static func write(_ filter: SavedFilter, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.entry("name", .text(filter.name))
    writer.entry("filter", .text(filter.text))
    writer.entry("updatedAt", .instant(filter.updatedAt))
    writer.endObject()
  }

  /// Reads a saved filter whose object has just begun.
  ///
  /// - Throws: `invalidFilter` if the name or the text is not valid.
  static func read(from reader: inout JSONReader, isLenient: Bool) throws -> SavedFilter {
    let position = reader.tokenPosition
    var name: String?, text: String?, updatedAt: Timestamp?
    var entries = DocumentEntries(Key.self, isLenient: isLenient)
    while let key = try entries.next(from: &reader) {
      switch key {
      case .name: name = try reader.read(.text, for: key)?.text
      case .filter: text = try reader.read(.text, for: key)?.text
      case .updatedAt: updatedAt = try reader.read(.instant, for: key)?.instant
      }
    }
    guard let name else { throw reader.fault("The filter has no name", at: position) }
    guard let text else { throw reader.fault("The filter has no text", at: position) }
    // Without a date, each import would be another change.
    guard let updatedAt else { throw reader.fault("The filter has no updatedAt", at: position) }
    do {
      return try SavedFilter(TaskFilter(text: text), as: name, updatedAt: updatedAt)
    } catch {
      throw TallyError(.malformedDocument, error.message, remedy: error.remedy, at: position, cause: error)
    }
  }
}
