import Foundation
import Tally
import TallyEngine

/// Reads what `task export` writes: an array of tasks, or a task on each line.
///
/// Deleted tasks are left out. The template of a recurring task is left out if the document contains a task made from
/// it.
final class TaskwarriorSource: ForeignSource {
  private var reader: JSONReader
  private var hasBegun = false
  /// The templates so far; a later record may be a task made from one of them.
  private var templates: [(TaskwarriorRecord, TextPosition)] = []
  private var parents: Set<String> = []

  init(_ input: consuming JSONInput, _ context: FormatContext) {
    var input = input
    // A fault of the first bytes is found again by the reader.
    while let byte = try? input.peek(), byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") {
      if byte == UInt8(ascii: "\n") { input.skipLineFeed() } else { input.skipByte() }
    }
    let isArray = (try? input.peek()) == UInt8(ascii: "[")
    reader = JSONReader(input, framing: isArray ? .document : .lines)
    super.init("Taskwarrior", context)
  }

  override var byteCount: Int64 { reader.input.consumedByteCount }

  override func nextTask() throws -> (TaskDocument, TextPosition)? {
    while let (record, position) = try nextRecord() {
      if case .text(let parent)? = record.values["parent"] { parents.insert(parent) }
      switch record.values["status"]?.text {
      case "deleted":
        // A cancelled task of Tally, for which Taskwarrior has no other word.
        if record.exact != nil, case let task = task(record, position), task[.cancelledAt] != nil {
          return (task, position)
        }
        context.remarks.add("deleted task", record.values["description"]?.text ?? "", at: position)
        continue
      case "recurring": templates.append((record, position))
      default: return (task(record, position), position)
      }
    }
    while let (record, position) = templates.popLast() {
      guard !parents.contains(record.values["uuid"]?.text ?? "") else { continue }
      return (task(record, position), position)
    }
    return nil
  }

  private func task(_ record: TaskwarriorRecord, _ position: TextPosition) -> TaskDocument {
    context.remarks.position = position
    var record = record
    record.removeFaulty(context)
    var document = record.importing(context)
    identity.identify(&document, by: record.values["description"]?.text ?? "", record.values["entry"]?.text ?? "")
    if case .text(let text)? = record.values["recur"], record.exact == nil {
      // A month of Taskwarrior ends with its last day, as one in words does.
      let first = (document[.dueDate]?.instant).map { context.day(of: $0) }
      document[.recurrence] = TaskwarriorRecurrence.recurrence(text).map { recurrence in
        .recurrence(first.map(recurrence.inWords) ?? recurrence)
      }
      if document[.recurrence] == nil { context.remarks.add("recurrence", text) }
    }
    return document
  }

  private func nextRecord() throws -> (TaskwarriorRecord, TextPosition)? {
    if !hasBegun, reader.framing == .document { _ = try reader.next() }
    hasBegun = true
    while true {
      let token = try reader.next()
      if token == .beginObject { break }
      if token == .end { return nil }
      if token == .endArray, reader.framing == .document {
        _ = try reader.next()
        return nil
      }
      guard reader.framing == .document else { throw reader.fault("An object is expected here") }
      context.remarks.add("text", try reader.json(beginningWith: token), at: reader.tokenPosition)
    }
    let position = reader.tokenPosition
    var values: [String: TaskwarriorValue] = [:]
    while try reader.next() == .key {
      let name = String(decoding: reader.text, as: UTF8.self)
      let place = reader.tokenPosition
      guard values.updateValue(.integer(0), forKey: name) == nil else {
        throw reader.fault("A key appears twice in its object", at: place)
      }
      values[name] = try reader.readTaskwarriorValue()
    }
    return (TaskwarriorRecord(values: values), position)
  }
}

/// A task of Taskwarrior 2: an object with a key for each attribute that it has.
///
/// Source: "Taskwarrior JSON Format" and "Attributes", taskwarrior.org/docs/design/task.
struct TaskwarriorRecord: ForeignRecord {
  /// The attributes that Tally has fields for; `id` and `urgency` are computed by Taskwarrior.
  private static let mapped: Set<String> = [
    "uuid", "description", "status", "entry", "modified", "end", "due", "scheduled", "project", "priority", "tags",
    "annotations", "id", "urgency", extensionKey,
  ]
  /// The user-defined attribute for what Taskwarrior cannot express.
  static let extensionKey = "tally"

  var values: [String: TaskwarriorValue]

  /// Days are written as midnights.
  ///
  /// A task with a random id (RFC 9562, section 5.4) may be one of Taskwarrior's, which is written as it was: with another
  /// attribute, Taskwarrior would take it for changed.
  static func isLocal(_ task: TaskItem) -> Bool {
    let isRandom = task.id.uuid.6 >> 4 == 4
    return !isRandom && (task.dueDay != nil || task.scheduledDate != nil || task.start?.day != nil)
  }

  /// Whether the extension leaves a field out, so that a task from Taskwarrior is written as it was.
  ///
  /// Taskwarrior orders tasks by urgency, and the name of a project identifies its list unless two lists have that
  /// name.
  static func omits(_ field: TaskField, of task: TaskItem, _ context: FormatContext) -> Bool {
    field == .sortOrder || field == .listID && task.listID.map(context.ambiguousLists.contains) == false
  }

  var exact: String? {
    get { values[Self.extensionKey]?.text }
    set { values[Self.extensionKey] = newValue.map { .text($0) } }
  }
}

extension TaskwarriorRecord {
  init(_ task: TaskItem, in list: String?, _ context: FormatContext) {
    values = [
      "uuid": .text(task.id.uuidString.lowercased()),
      "status": .text(task.isCompleted ? "completed" : task.isCancelled ? "deleted" : "pending"),
    ]
    values["description"] = .text(Self.plain(task.title))
    for (name, value) in task.attributes { values[name] = Self.value(value, of: name) }
    if !task.dependsOn.isEmpty { values["depends"] = Self.array(task.dependsOn.map { $0.uuidString.lowercased() }) }
    set("entry", task.createdAt)
    set("modified", task.updatedAt)
    set("end", (task.completedAt ?? task.cancelledAt)?.instant)
    set("due", task.dueDate ?? task.dueDay.map(context.start))
    setScheduled(task, context)
    setWait(task, context)
    // Taskwarrior wants a due date of tasks that repeat.
    if values["due"] == nil { values["recur"] = nil }
    if task.state == .active {
      if values["start"] == nil { set("start", task.updatedAt) }
    } else if task.isOpen {
      values["start"] = nil
    }
    values["project"] = list.map { .text(Self.plain($0)) }
    values["priority"] = Self.letters[task.priority].map { .text($0) }
    values["tags"] = Self.tags(task.tags)
    if let notes = task.notes, !notes.isEmpty { values["annotations"] = annotations(notes, task) }
  }

  static let letters: [Priority: String] = [.high: "H", .medium: "M", .low: "L"]
  /// Taskwarrior 2.6 refuses dates outside these years.
  private static let years = 1980...9_998

  /// Sets the time with which the task was imported if it is still on the scheduled day; otherwise the beginning of
  /// that day.
  private mutating func setScheduled(_ task: TaskItem, _ context: FormatContext) {
    set("scheduled", task.scheduledDate.map(context.start))
    guard case .text(let text)? = task.attributes["scheduled"], let instant = BasicDate.instant(text),
      context.day(of: instant) == task.scheduledDate
    else { return }
    values["scheduled"] = .text(text)
  }

  /// Sets the time until which the task waits.
  ///
  /// It is the imported one if that still means the task's start, otherwise the beginning of the start day. Without a
  /// start, an attribute of an earlier import stays.
  private mutating func setWait(_ task: TaskItem, _ context: FormatContext) {
    guard let start = task.start else { return }
    let isImported = instant("wait").map { Self.start($0, context) == start } ?? false
    if !isImported {
      values["wait"] = nil
      set("wait", context.start(of: start.day ?? Self.someday))
    }
    if task.isOpen, let instant = instant("wait"), instant > context.now { values["status"] = .text("waiting") }
  }

  /// The day that Taskwarrior 2 calls someday.
  private static let someday = CalendarDay(clamping: 24_854)

  /// The start that a time in `wait` means; the years after 9998 are how later versions write someday.
  private static func start(_ wait: Timestamp, _ context: FormatContext) -> TaskStart {
    let day = context.day(of: wait)
    return day == someday || day.year > years.upperBound ? .someday : .day(day)
  }

  private mutating func set(_ name: String, _ instant: Timestamp?) {
    guard let instant, Self.years.contains(CalendarDay(containing: instant, in: .gmt).year) else { return }
    values[name] = .text(BasicDate.text(instant))
  }

  /// A text without the control characters that Taskwarrior loses.
  static func plain(_ text: String) -> String { text.blanking { $0.isControl && $0 != "\n" } }

  /// The tags that Taskwarrior stores unchanged, as an array; it splits others, or writes them as something else.
  private static func tags(_ tags: TagSet) -> TaskwarriorValue? {
    let plain = tags.filter { $0.unicodeScalars.allSatisfy { !#":"\,[]"#.unicodeScalars.contains($0) } }
    return plain.isEmpty ? nil : array(Array(TagSet(plain)))
  }

  private static func array(_ texts: [String]) -> TaskwarriorValue {
    var writer = JSONWriter(layout: .compact)
    writer.beginArray()
    for text in texts { writer.value(.text(text)) }
    writer.endArray()
    return .json(String(decoding: writer.takeBytes(), as: UTF8.self))
  }

  /// The texts of an array; `nil` for any other JSON.
  static func tags(_ array: String) -> [String]? {
    var reader = JSONReader(JSONInput(text: array))
    var tags: [String] = []
    guard (try? reader.next()) == .beginArray else { return nil }
    while let token = try? reader.next(), token == .string { tags.append(String(decoding: reader.text, as: UTF8.self)) }
    return reader.isAtEndOfDocument ? tags : nil
  }

  /// An attribute as Taskwarrior accepts it; `nil` for one that it would refuse or change.
  private static func value(_ value: AttributeValue, of name: String) -> TaskwarriorValue? {
    guard !mapped.contains(name), !name.isEmpty, name.allSatisfy(\.isPlainName) else { return nil }
    switch value {
    case .integer(let number): return TaskwarriorBuiltIn.isValid("\(number)", of: name) ? .integer(number) : nil
    case .real(let number):
      return TaskwarriorBuiltIn.named(name) || !TaskwarriorNumber.isExact(number) ? nil : .real(number)
    case .text(let text):
      guard !text.isEmpty, plain(text).utf8.elementsEqual(text.utf8), TaskwarriorBuiltIn.isValid(text, of: name) else {
        return nil
      }
      return name == "depends" && text.hasPrefix("[") ? .json(text) : .text(text)
    case .flag, .instant, .day, .bytes: return nil
    }
  }

  /// The annotations from which the notes were imported if the notes are unchanged; otherwise one annotation with all
  /// the notes.
  private func annotations(_ notes: String, _ task: TaskItem) -> TaskwarriorValue {
    if case .text(let imported)? = task.attributes["annotations"],
      TaskwarriorAnnotation.notes(imported)?.utf8.elementsEqual(notes.utf8) == true
    {
      return .json(imported)
    }
    return .json(TaskwarriorAnnotation.array(Self.plain(notes), at: values["entry"]?.text))
  }

  // `removeFaulty` has removed the values that cannot be read here.
  func document(_ context: FormatContext) -> TaskDocument {
    var document = TaskDocument()
    if let id = text("uuid").flatMap({ UUID(uuidString: $0) }) { document[.id] = .id(id) }
    document[.text] = .text(text("description") ?? "Untitled")
    document[.createdAt] = .instant(instant("entry") ?? instant("modified") ?? context.now)
    if let modified = instant("modified") { document[.updatedAt] = .instant(modified) }
    readState(into: &document, context)
    readDue(into: &document, context)
    document[.scheduledDate] = instant("scheduled").map { .day(context.day(of: $0)) }
    document.start = instant("wait").map { Self.start($0, context) }
    document[.priority] = text("priority").flatMap { letter in
      Self.letters.first { $0.value == letter }.map { .priority($0.key) }
    }
    document[.tags] = tags.map { .tags($0) }
    document[.dependsOn] = dependencies.map { .ids($0) }
    document[.listID] = nil
    document.listName = text("project").flatMap { $0.isEmpty ? nil : $0 }
    document[.notes] = annotationsText.flatMap { TaskwarriorAnnotation.notes($0) }.map { .text($0) }
    document.attributes = attributes(context)
    return document
  }

  private func readState(into document: inout TaskDocument, _ context: FormatContext) {
    let open: TaskState = values["start"] != nil ? .active : .notStarted
    let state: TaskState = ["completed": .completed, "deleted": .cancelled][text("status") ?? ""] ?? open
    let end = instant("end") ?? (document.has(.updatedAt) ? document.task.updatedAt : nil)
    let completion = end.map { OffsetTimestamp($0, in: context.timeZone) } ?? context.undatedCompletion
    // Only the extension says that a deleted task was cancelled, and when.
    document.setState(state, at: state == .cancelled ? nil : completion)
  }

  /// A date without a time is midnight for Taskwarrior.
  private func readDue(into document: inout TaskDocument, _ context: FormatContext) {
    let due = instant("due")
    let day = due.map(context.day)
    let isDay = day.map(context.start) == due
    document[.dueDate] = isDay ? nil : due.map { .instant($0) }
    document[.dueDay] = isDay ? day.map { .day($0) } : nil
  }

  /// The values for which Tally has no field, and those that a field cannot express in full.
  private func attributes(_ context: FormatContext) -> [String: AttributeValue] {
    var attributes: [String: AttributeValue] = [:]
    let isDependencyRead = dependencies != nil
    for (name, value) in values where !Self.mapped.contains(name) && !(name == "depends" && isDependencyRead) {
      switch value {
      case .text(let text): attributes[name] = TaskwarriorNumber.attribute(text) ?? .text(text)
      case .integer(let number): attributes[name] = .integer(number)
      case .real(let number): attributes[name] = TaskwarriorNumber.attribute(number)
      case .json(let text): attributes[name] = .text(text)
      }
    }
    if ["pending", "waiting"].contains(text("status")), values["start"] == values["modified"] {
      attributes["start"] = nil
    }
    if case .text(let text)? = attributes["start"], text == self.text("modified") { attributes["start"] = nil }
    if let scheduled = instant("scheduled"), context.start(of: context.day(of: scheduled)) != scheduled {
      attributes["scheduled"] = text("scheduled").map { .text($0) }
    }
    if let wait = instant("wait"),
      Self.start(wait, context) == .someday || context.start(of: context.day(of: wait)) == wait
    {
      attributes["wait"] = nil
    }
    if let annotations = annotationsText, !TaskwarriorAnnotation.isPlain(annotations, at: text("entry")) {
      attributes["annotations"] = .text(annotations)
    }
    return attributes
  }

  private var annotationsText: String? { if case .json(let text)? = values["annotations"] { text } else { nil } }

  /// The tags; `nil` if there are none, or for anything but a text or an array of texts.
  private var tags: TagSet? {
    switch values["tags"] {
    case .text(let list)?: TagSet(list.split(separator: ",").map(String.init))
    case .json(let array)?: Self.tags(array).map { TagSet($0) }
    default: nil
    }
  }

  /// The tasks on which it depends, from an array of ids or from ids with commas between them, as Taskwarrior 2.5 wrote
  /// them; `nil` if there are none, or for anything else.
  private var dependencies: TaskIDSet? {
    switch values["depends"] {
    case .text(let list)?: TableValue.ids(list)
    case .json(let array)?: Self.tags(array).flatMap { TableValue.ids($0.joined(separator: ",")) }
    default: nil
    }
  }

  private func text(_ name: String) -> String? { values[name]?.text }

  private func instant(_ name: String) -> Timestamp? { text(name).flatMap(BasicDate.instant) }
}

extension Character {
  /// Whether the name of a user-defined attribute may contain the character.
  fileprivate var isPlainName: Bool { isASCII && (isLetter || isNumber || self == "_" || self == "-" || self == ".") }
}

extension TaskwarriorRecord {
  private static let dates = ["entry", "modified", "end", "due", "scheduled", "start", "wait", "until"]
  private static let texts = ["uuid", "description", "status", "project", "priority"]
  private static let states: Set = ["pending", "completed", "waiting", "recurring", "deleted"]
  /// Taskwarrior's own attributes that Tally stores, but does not act on.
  private static let uninterpreted = ["until"]

  /// Removes each value that is not what Taskwarrior writes, with a remark; its text stays in an attribute.
  mutating func removeFaulty(_ context: FormatContext) {
    for name in Self.texts {
      guard let value = values[name], value.text == nil else { continue }
      if case .json = value { remove(name, value, "value", context) } else { values[name] = .text(value.description) }
    }
    for name in Self.dates { checkDate(name, context) }
    if let letter = values["priority"]?.text, !letter.isEmpty, !Self.letters.values.contains(letter) {
      remove("priority", .text(letter), "priority", context)
    }
    if let tags = values["tags"], self.tags == nil { remove("tags", tags, "tag", context) }
    if let status = values["status"]?.text, !Self.states.contains(status) {
      remove("status", .text(status), "state", context)
    }
    if let uuid = values["uuid"]?.text, UUID(uuidString: uuid) == nil {
      remove("uuid", .text(uuid), "uuid", context)
    }
    if values["description"] == nil { context.remarks.add("title", values["uuid"]?.text ?? "") }
    if let value = values["depends"], dependencies == nil { context.remarks.add("depends", value.description) }
    for name in Self.uninterpreted {
      if let value = values[name] { context.remarks.add(name, value.description) }
    }
  }

  /// Rewrites a date in another form than Taskwarrior's; removes a value that is not a date.
  private mutating func checkDate(_ name: String, _ context: FormatContext) {
    guard let value = values[name], value.text.flatMap(BasicDate.instant) == nil else { return }
    if let date = value.text.flatMap({ WrittenDate($0, context) }) {
      values[name] = .text(BasicDate.text(date.instant(context)))
    } else {
      remove(name, value, "date", context)
    }
  }

  private mutating func remove(_ name: String, _ value: TaskwarriorValue, _ kind: String, _ context: FormatContext) {
    values[name] = nil
    values["\(name)_imported"] = .text(value.description)
    context.remarks.add(kind, "\(name): \(value.description)")
  }
}

extension TaskwarriorValue {
  /// The value as text.
  fileprivate var description: String {
    switch self {
    case .text(let text), .json(let text): text
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    }
  }
}

/// The annotations of a Taskwarrior task, which are its notes: an array of objects with an entry and a description.
enum TaskwarriorAnnotation {
  /// The descriptions, each on lines of its own; `nil` for JSON that is not an array of annotations, or an empty one.
  static func notes(_ array: String) -> String? {
    guard let all = read(array), !all.isEmpty else { return nil }
    return all.map(\.description).joined(separator: "\n")
  }

  /// Whether an array is what `array(_:at:)` makes, so that it can be rebuilt from the notes alone.
  static func isPlain(_ array: String, at entry: String?) -> Bool {
    guard let all = read(array) else { return false }
    return all.count == 1 && all[0].entry == entry
  }

  /// One annotation with a text.
  static func array(_ notes: String, at entry: String?) -> String {
    var writer = JSONWriter(layout: .compact)
    writer.beginArray()
    writer.beginObject()
    writer.key("entry" as StaticString)
    writer.value(.text(entry ?? "19800101T000000Z"))
    writer.key("description" as StaticString)
    writer.value(.text(notes))
    writer.endObject()
    writer.endArray()
    return String(decoding: writer.takeBytes(), as: UTF8.self)
  }

  private static func read(_ array: String) -> [(entry: String, description: String)]? {
    var reader = JSONReader(JSONInput(text: array))
    var all: [(entry: String, description: String)] = []
    do {
      guard try reader.next() == .beginArray else { return nil }
      while try reader.next() == .beginObject {
        var values: [String: String] = [:]
        while try reader.next() == .key {
          let name = String(decoding: reader.text, as: UTF8.self)
          values[name] = try reader.readTaskwarriorValue()?.text
        }
        guard let entry = values["entry"], let description = values["description"] else { return nil }
        all.append((entry, description))
      }
      return all
    } catch {
      return nil
    }
  }
}

/// Taskwarrior's own attributes that Tally stores as attributes, and the values that Taskwarrior accepts for them.
enum TaskwarriorBuiltIn {
  private static let dates: Set<String> = ["wait", "until", "start"]
  private static let ids: Set<String> = ["parent", "template"]
  private static let others: Set<String> = ["depends", "mask", "imask", "recur", "rtype", "last"]

  static func named(_ name: String) -> Bool { dates.contains(name) || ids.contains(name) || others.contains(name) }

  /// Whether Taskwarrior accepts a value; true for every attribute that is not its own.
  static func isValid(_ text: String, of name: String) -> Bool {
    if dates.contains(name) { return BasicDate.instant(text) != nil }
    if ids.contains(name) { return UUID(uuidString: text) != nil }
    switch name {
    case "depends": return dependencies(text)
    case "mask": return text.allSatisfy { "-+XW".contains($0) }
    case "imask", "last": return Double(text) != nil
    case "recur": return TaskwarriorRecurrence.recurrence(text) != nil
    case "rtype": return text == "periodic" || text == "chained"
    default: return true
    }
  }

  /// Whether a text is ids with commas between them, or an array of them.
  private static func dependencies(_ text: String) -> Bool {
    let ids = text.trimmingCharacters(in: CharacterSet(charactersIn: "[]")).split(separator: ",")
    return !ids.isEmpty
      && ids.allSatisfy { UUID(uuidString: $0.trimmingCharacters(in: CharacterSet(charactersIn: "\" "))) != nil }
  }
}

/// Writes an array of tasks, one on each line, as `task export` does.
struct TaskwarriorWriter: DocumentWriter {
  private let context: FormatContext
  private var isFirst = true
  var bytes: [UInt8] = []

  init(_ context: FormatContext) { self.context = context }

  mutating func begin() { bytes += Array("[\n".utf8) }

  mutating func write(_ task: TaskItem, in list: TaskList?, under parent: TaskItem?) {
    if !isFirst { bytes += Array(",\n".utf8) }
    isFirst = false
    let record = TaskwarriorRecord.exporting(task, in: list?.name, context)
    var writer = JSONWriter(layout: .compact)
    writer.beginObject()
    for (name, value) in record.values.sorted(by: { $0.key < $1.key }) {
      writer.key(name)
      switch value {
      case .text(let text): writer.value(.text(text))
      case .integer(let number): writer.value(.integer(number))
      case .real(let number): writer.value(real: number)
      case .json(let text): writer.value(json: text)
      }
    }
    writer.endObject()
    bytes += writer.takeBytes()
  }

  mutating func end() { bytes += Array((isFirst ? "]\n" : "\n]\n").utf8) }
}
