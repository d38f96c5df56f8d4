internal import Foundation
internal import Tally

/// A task in the form of another format: a line, an object, a component.
///
/// Formats say less than Tally does: whole seconds, days, no zones. What a format loses is written beside it, as JSON
/// in an extension of the format. It counts as long as the rest still says what Tally wrote: another program that
/// changes a due date wins over the exact one beside it. That is found out by writing the task again and comparing,
/// field by field, so no format has to say what it loses.
protocol ForeignRecord {
  /// Writes what the format has words for.
  init(_ task: TaskItem, in list: String?, _ context: FormatContext)

  /// What the format's own words say.
  ///
  /// - Throws: the error of a value, with its place if it is known.
  func document(_ context: FormatContext) throws -> TaskDocument

  /// The extension: fields of the task as JSON.
  var exact: String? { get set }

  /// Whether the record has days that other time zones would read as others.
  static func isLocal(_ task: TaskItem) -> Bool
  /// Whether a field that the format cannot say is left out all the same.
  static func omits(_ field: TaskField, of task: TaskItem, _ context: FormatContext) -> Bool
}

extension ForeignRecord {
  static func omits(_ field: TaskField, of task: TaskItem, _ context: FormatContext) -> Bool { false }
}

extension ForeignRecord {
  /// Fields that exclude each other or belong together: both are exact, or neither.
  private static var groups: [[TaskField]] {
    [[.dueDate, .dueDay], [.state, .completedAt], [.recurrence, .series]]
  }

  /// The record of a task, with everything that the format's own words lose.
  static func exporting(_ task: TaskItem, in list: String?, _ context: FormatContext) -> Self {
    var record = Self(task, in: list, context)
    guard !context.options.isPlain else { return record }
    let plain = try? context.remarks.discarding { try record.document(context) }
    let lost = TaskField.all.filter { field in
      if omits(field, of: task, context) { return false }
      guard let plain else { return task[field] != nil }
      return !task[field].isIdentical(to: plain[field])
    }
    let groups = groups.filter { !$0.allSatisfy { !lost.contains($0) } }
    let fields = TaskField.all.filter { field in lost.contains(field) || groups.contains { $0.contains(field) } }
    var surroundings = TaskDocument.Surroundings()
    if plain?.listName.isIdentical(to: list) != true { surroundings.list = .some(list) }
    if isLocal(task) { surroundings.zone = context.timeZone.identifier }
    if !fields.isEmpty || surroundings.list != nil || surroundings.zone != nil {
      record.exact = TaskDocument.text(of: task, fields, surroundings).withoutControls
    }
    return record
  }

  /// What the record says, with the exact values that still hold.
  func importing(_ context: FormatContext) throws -> TaskDocument {
    guard let exact else { return try document(context) }
    guard let (exactly, surroundings) = try? TaskDocument.read(exact) else {
      context.remarks.add("extension", exact)
      return try document(context)
    }
    let (list, context) = (surroundings.list, context.in(surroundings.zone))
    let found = try document(context)
    var (document, task) = (found, found.task)
    for field in TaskField.all where exactly.has(field) { task[field] = exactly[field] }
    let again = try? context.remarks.discarding {
      try Self(task, in: list ?? document.listName, context).document(context)
    }
    guard let again else { return document }
    for field in TaskField.all where exactly.has(field) {
      let group = Self.groups.first { $0.contains(field) } ?? [field]
      guard group.allSatisfy({ again[$0].isIdentical(to: found[$0]) }) else { continue }
      document[field] = exactly[field]
    }
    if let list, again.listName.isIdentical(to: document.listName) { document.listName = list }
    // The id of the list counts as long as there is a name.
    if document.listName == nil { document[.listID] = nil }
    return document
  }
}

extension FieldValue? {
  /// Whether two values are the same byte for byte: `==` takes texts for equal that Unicode considers equivalent.
  fileprivate func isIdentical(to other: FieldValue?) -> Bool {
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
  fileprivate func isIdentical(to other: String?) -> Bool {
    map { Array($0.utf8) } == other.map { Array($0.utf8) }
  }
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
  /// The record's own attributes with those of the extension, which are the ones that the format cannot name.
  mutating func set(_ attributes: [String: AttributeValue]) {
    self[.attributes] = attributes.isEmpty ? nil : .attributes(attributes)
  }
}
