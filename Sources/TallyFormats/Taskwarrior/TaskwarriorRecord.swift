internal import Foundation
internal import Tally

/// A task of Taskwarrior 2: an object with a key for each attribute that it has.
///
/// Source: "Taskwarrior JSON Format" and "Attributes", taskwarrior.org/docs/design/task.
struct TaskwarriorRecord: ForeignRecord {
  /// The attributes that Tally has fields for; `id` and `urgency` are computed by Taskwarrior.
  private static let mapped: Set<String> = [
    "uuid", "description", "status", "entry", "modified", "end", "due", "scheduled", "project", "priority", "tags",
    "annotations", "id", "urgency", extensionKey,
  ]
  /// The user-defined attribute that has what Taskwarrior cannot say.
  static let extensionKey = "tally"

  var values: [String: TaskwarriorValue]

  /// Its dates are instants.
  static func isLocal(_ task: TaskItem) -> Bool { false }

  /// Whether the extension leaves a field out, so that a task that came from Taskwarrior goes back unchanged.
  ///
  /// Taskwarrior orders tasks by urgency, and a project's name
  /// says which list it is unless there are two.
  static func omits(_ field: TaskField, of task: TaskItem, _ context: FormatContext) -> Bool {
    field == .sortOrder || field == .listID && task.listID.map(context.ambiguousLists.contains) == false
  }

  var exact: String? {
    get { values[Self.extensionKey]?.text }
    set { values[Self.extensionKey] = newValue.map { .text($0) } }
  }

  init(values: [String: TaskwarriorValue]) {
    self.values = values
  }

  init(_ task: TaskItem, in list: String?, _ context: FormatContext) {
    values = [
      "uuid": .text(task.id.uuidString.lowercased()), "status": .text(task.isCompleted ? "completed" : "pending"),
    ]
    values["description"] = .text(Self.plain(task.title))
    for (name, value) in task.attributes { values[name] = Self.value(value, of: name) }
    set("entry", task.createdAt)
    set("modified", task.updatedAt)
    set("end", task.completedAt?.instant)
    set("due", task.dueDate ?? task.dueDay.map(context.start))
    setScheduled(task, context)
    // Taskwarrior wants a due date of tasks that repeat.
    if values["due"] == nil { values["recur"] = nil }
    if task.state == .active {
      if values["start"] == nil { set("start", task.updatedAt) }
    } else if !task.isCompleted {
      values["start"] = nil
    }
    values["project"] = list.map { .text(Self.plain($0)) }
    values["priority"] = Self.letters[task.priority].map { .text($0) }
    values["tags"] = Self.array(task.tags)
    if let notes = task.notes, !notes.isEmpty { values["annotations"] = annotations(notes, task) }
  }
}

extension TaskwarriorRecord {
  static let letters: [Priority: String] = [.high: "H", .medium: "M", .low: "L"]
  /// Taskwarrior 2.6 refuses dates outside these years.
  private static let years = 1980...9_998

  /// The time that the task came with, as long as it is on its day; else the beginning of the day.
  private mutating func setScheduled(_ task: TaskItem, _ context: FormatContext) {
    set("scheduled", task.scheduledDate.map(context.start))
    guard case .text(let text)? = task.attributes["scheduled"], let instant = BasicDate.instant(text),
      context.day(of: instant) == task.scheduledDate
    else { return }
    values["scheduled"] = .text(text)
  }

  private mutating func set(_ name: String, _ instant: Timestamp?) {
    guard let instant, Self.years.contains(CalendarDay(containing: instant, in: .gmt).year) else { return }
    values[name] = .text(BasicDate.text(instant))
  }

  /// A text without the control characters that Taskwarrior loses.
  static func plain(_ text: String) -> String {
    let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
      scalar.value < 0x20 && scalar != "\n" || scalar.value == 0x7F ? " " : scalar
    }
    return String(String.UnicodeScalarView(scalars))
  }

  /// The tags that Taskwarrior keeps, as an array; it takes others apart, or writes them as something else.
  private static func array(_ tags: TagSet) -> TaskwarriorValue? {
    let plain = tags.filter { $0.unicodeScalars.allSatisfy { !#":"\,[]"#.unicodeScalars.contains($0) } }
    guard !plain.isEmpty else { return nil }
    var writer = JSONWriter(layout: .compact)
    writer.value(.tags(TagSet(plain)))
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

  /// An attribute as Taskwarrior takes it; `nil` for one that it would refuse or change.
  private static func value(_ value: AttributeValue, of name: String) -> TaskwarriorValue? {
    guard !mapped.contains(name), !name.isEmpty, name.allSatisfy(\.isPlainName) else { return nil }
    switch value {
    case .integer(let number): return TaskwarriorBuiltIn.isValid("\(number)", of: name) ? .integer(number) : nil
    case .real(let number):
      return TaskwarriorBuiltIn.named(name) || !TaskwarriorNumber.isKept(number) ? nil : .real(number)
    case .text(let text):
      guard !text.isEmpty, plain(text).utf8.elementsEqual(text.utf8), TaskwarriorBuiltIn.isValid(text, of: name) else {
        return nil
      }
      return name == "depends" && text.hasPrefix("[") ? .json(text) : .text(text)
    case .flag, .instant, .day, .bytes: return nil
    }
  }

  /// The annotations that the notes came from, or one of all the notes.
  private func annotations(_ notes: String, _ task: TaskItem) -> TaskwarriorValue {
    if case .text(let kept)? = task.attributes["annotations"],
      TaskwarriorAnnotation.notes(kept)?.utf8.elementsEqual(notes.utf8) == true
    {
      return .json(kept)
    }
    return .json(TaskwarriorAnnotation.array(Self.plain(notes), at: values["entry"]?.text))
  }
}

extension TaskwarriorRecord {
  func document(_ context: FormatContext) throws -> TaskDocument {
    var document = TaskDocument()
    if let id = try text("uuid").flatMap({ UUID(uuidString: $0) }) { document[.id] = .id(id) }
    document[.text] = .text(try text("description") ?? "Untitled")
    document[.createdAt] = .instant(try instant("entry") ?? instant("modified") ?? context.now)
    if let modified = try instant("modified") { document[.updatedAt] = .instant(modified) }
    try readState(into: &document, context)
    try readDue(into: &document, context)
    document[.scheduledDate] = try instant("scheduled").map { .day(context.day(of: $0)) }
    document[.priority] = try text("priority").flatMap { letter in
      Self.letters.first { $0.value == letter }.map { .priority($0.key) }
    }
    document[.tags] = try tags().map { .tags($0) }
    document[.listID] = nil
    document.listName = try text("project").flatMap { $0.isEmpty ? nil : $0 }
    document[.notes] = try annotationsText().flatMap { TaskwarriorAnnotation.notes($0) }.map { .text($0) }
    document.set(try attributes(context))
    return document
  }

  private func readState(into document: inout TaskDocument, _ context: FormatContext) throws {
    let status = try text("status")
    let isCompleted = status == "completed"
    let isActive = values["start"] != nil
    document[.state] = .state(isCompleted ? .completed : isActive ? .active : .notStarted)
    let end = try instant("end") ?? (document.has(.updatedAt) ? document.task.updatedAt : nil)
    let completion = end.map { OffsetTimestamp($0, in: context.timeZone) } ?? context.undatedCompletion
    document[.completedAt] = isCompleted ? .offsetInstant(completion) : nil
  }

  /// A date without a time is midnight for Taskwarrior.
  private func readDue(into document: inout TaskDocument, _ context: FormatContext) throws {
    let due = try instant("due")
    let day = due.map(context.day)
    let isDay = day.map(context.start) == due
    document[.dueDate] = isDay ? nil : due.map { .instant($0) }
    document[.dueDay] = isDay ? day.map { .day($0) } : nil
    if isDay, due == nil { document[.dueDay] = nil }
  }

  /// What Tally has no field for, and what a field does not say in full.
  private func attributes(_ context: FormatContext) throws -> [String: AttributeValue] {
    var attributes: [String: AttributeValue] = [:]
    for (name, value) in values where !Self.mapped.contains(name) {
      switch value {
      case .text(let text): attributes[name] = TaskwarriorNumber.attribute(text) ?? .text(text)
      case .integer(let number): attributes[name] = .integer(number)
      case .real(let number): attributes[name] = TaskwarriorNumber.attribute(number)
      case .json(let text): attributes[name] = .text(text)
      }
    }
    let status = try text("status")
    if status == "pending", values["start"] == values["modified"] { attributes["start"] = nil }
    if case .text(let text)? = attributes["start"], text == (try self.text("modified")) { attributes["start"] = nil }
    if let scheduled = try instant("scheduled"), context.start(of: context.day(of: scheduled)) != scheduled {
      attributes["scheduled"] = try self.text("scheduled").map { .text($0) }
    }
    if let annotations = try annotationsText(), !TaskwarriorAnnotation.isPlain(annotations, at: try text("entry")) {
      attributes["annotations"] = .text(annotations)
    }
    return attributes
  }

  private func annotationsText() throws -> String? {
    guard case .json(let text)? = values["annotations"] else { return nil }
    return text
  }

  private func tags() throws -> TagSet? {
    switch values["tags"] {
    case nil: return nil
    case .text(let list)?: return TagSet(list.split(separator: ",").map(String.init))
    case .json(let array)?:
      guard let tags = Self.tags(array) else { throw Self.fault("The tags are not an array of texts") }
      return TagSet(tags)
    default: throw Self.fault("The tags are not an array of texts")
    }
  }

  private func text(_ name: String) throws -> String? {
    guard let value = values[name] else { return nil }
    guard let text = value.text else { throw Self.fault("The value of \(name) is not a text") }
    return text
  }

  private func instant(_ name: String) throws -> Timestamp? {
    guard let text = try text(name) else { return nil }
    guard let instant = BasicDate.instant(text) else {
      throw TallyError(
        .invalidInstant, "The value of \(name) is not a date of Taskwarrior", remedy: "Write it as 20261121T090000Z")
    }
    return instant
  }

  private static func fault(_ message: String) -> TallyError {
    TallyError(.malformedDocument, message, remedy: "Correct the document there; nothing was imported")
  }
}

extension Character {
  /// Whether a name of a user-defined attribute may have it.
  fileprivate var isPlainName: Bool { isASCII && (isLetter || isNumber || self == "_" || self == "-" || self == ".") }
}
