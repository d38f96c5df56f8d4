import Foundation
import SystemPackage
import TallyFormats
import TallyTestSupport

@testable import Tally

extension TaskStore {
  /// Imports a text of a format; `nil` guesses it.
  @discardableResult
  func importText(
    _ text: String, as format: DocumentFormat?, _ options: ImportOptions = ImportOptions()
  ) throws -> ImportSummary {
    try importBytes(Array(text.utf8), as: format, options)
  }

  /// Imports bytes, which need not be a text.
  @discardableResult
  func importBytes(
    _ bytes: [UInt8], as format: DocumentFormat?, _ options: ImportOptions = ImportOptions()
  ) throws -> ImportSummary {
    try withTemporaryDirectory { directory in
      let file = directory.appending("import")
      try Data(bytes).write(to: URL(filePath: file.string))
      return try importDocument(from: file, as: format, options: options)
    }
  }

  /// An export as text.
  func exportedText(as format: DocumentFormat, matching filter: TaskFilter? = nil) throws -> String {
    try withTemporaryDirectory { directory in
      let file = directory.appending("export")
      try export(to: file, as: format, matching: filter)
      return String(decoding: try Data(contentsOf: URL(filePath: file.string)), as: UTF8.self)
    }
  }

  /// Every task, in the order of the lists.
  var tasks: [TaskItem] {
    get throws { try read { try $0.tasks(TaskQuery(.all, by: .place)).tasks } }
  }
}

/// What a test expects of an imported task, in words: one fact on each line.
func facts(_ task: TaskItem, _ lists: [TaskList]) -> [String] {
  var facts: [String] = []
  for field in TaskField.all {
    switch field {
    case .id, .sortOrder, .createdAt, .updatedAt, .listID, .series, .parentID, .attributes: continue
    case .state where task.state == .notStarted: continue
    case .text: facts.append(task.title)
    default: if let value = task[field] { facts.append("\(field.name) \(words(value))") }
    }
  }
  if let list = lists.first(where: { $0.id == task.listID }) { facts.append("in \(list.name)") }
  for (name, value) in task.attributes.sorted(by: { $0.key < $1.key }) { facts.append("@\(name)=\(value)") }
  return facts
}

private func words(_ value: FieldValue) -> String {
  switch value {
  case .text(let text): text
  case .state(let state): state.name
  case .instant(let instant): instant.iso8601
  case .offsetInstant(let instant): instant.iso8601
  case .day(let day): day.iso8601
  case .priority(let priority): priority.name
  case .tags(let tags): tags.joined(separator: ",")
  case .recurrence(let recurrence): recurrence.text
  case .ids(let ids): ids.map { $0.uuidString.lowercased() }.joined(separator: ",")
  case .reminders(let reminders): reminders.map(\.text).joined(separator: ",")
  default: "\(value)"
  }
}
