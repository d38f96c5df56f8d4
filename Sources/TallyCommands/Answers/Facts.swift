import Foundation
import Tally

/// What a command answers: a tree of names and values, written once and printed as JSON or as the records of `--plain`.
///
/// The names are keys of the JSON and, joined by dots, the names of the records; both are part of the command line's
/// contract, and so is their order.
enum Facts {
  case value(FieldValue?)
  case flag(Bool)
  /// Values in order; in records each has its label before it, if there are labels.
  case array([Facts], labels: [String] = [])
  case object([Member])

  typealias Member = (Name, Facts)

  /// The name of a member, which may be in the JSON only or in the records only.
  struct Name: ExpressibleByStringLiteral {
    enum Audience {
      case all, json, plain
    }

    let text: StaticString
    let audience: Audience

    init(stringLiteral text: StaticString) {
      self.init(text)
    }

    init(_ text: StaticString, onlyIn audience: Audience = .all) {
      (self.text, self.audience) = (text, audience)
    }
  }

  static func text(_ text: String?) -> Facts { .value(text.map { .text($0) }) }
  static func integer(_ number: Int64?) -> Facts { .value(number.map { .integer($0) }) }
  static func count(_ number: Int) -> Facts { .integer(Int64(number)) }
  static func id(_ id: UUID?) -> Facts { .value(id.map { .id($0) }) }
  static func instant(_ instant: Timestamp?) -> Facts { .value(instant.map { .instant($0) }) }
  static func day(_ day: CalendarDay?) -> Facts { .value(day.map { .day($0) }) }
}

extension Facts: ExpressibleByDictionaryLiteral {
  init(dictionaryLiteral elements: (Name, Facts)...) {
    self = .object(elements)
  }

  /// The object with further members.
  func adding(_ more: Facts) -> Facts { .object(members + more.members) }

  /// The members of an object; empty for any other value.
  var members: [Member] {
    if case .object(let members) = self { members } else { [] }
  }
}

extension NamedTask {
  /// The columns of a task's record in the order of the first version.
  static let firstColumns = ["handle", "state", "scheduledDate", "dueDate", "completedAt", "list", "title", "id"]
  /// The columns that came later, behind all others: scripts count columns from the left.
  static let laterColumns = ["dueDay", "priority", "tags"]
  /// The columns of a task's record.
  static let columns = firstColumns + laterColumns

  /// The columns that a record can have.
  static let allColumns: [String] = TaskField.all.filter { $0 != .series }.flatMap { field -> [String] in
    switch field {
    case .id: ["id", "handle"]
    case .listID: ["listID", "list"]
    case .text: ["title"]
    default: ["\(field.name)"]
    }
  }

  var facts: Facts {
    var members: [Facts.Member] = []
    // The place in a series is the engine's own.
    for field in TaskField.all where field != .series {
      members.append((Facts.Name(field == .text ? "title" : field.name), .value(task.shown(field))))
      if field == .id { members.append(("handle", .text(handle))) }
      if field == .listID { members.append(("list", .text(list?.name))) }
      if field == .completedAt {
        members.append((Facts.Name("completedOffset", onlyIn: .json), .text(task.completedAt?.offsetText)))
      }
    }
    return .object(members)
  }
}

extension OffsetTimestamp {
  /// The offset from UTC as `+03:00`.
  var offsetText: String {
    let minutes = abs(utcOffsetInMinutes)
    return (utcOffsetInMinutes < 0 ? "-" : "+") + WallTime.clock(ofMinute: minutes)
  }
}

extension TaskItem {
  /// The value of a field as it is shown: tags and attributes are there even if the task has none.
  fileprivate func shown(_ field: TaskField) -> FieldValue? {
    switch field {
    case .tags: .tags(tags)
    case .attributes: .attributes(attributes)
    default: self[field]
    }
  }
}

extension TaskList {
  /// The columns of a list's record.
  static let columns = ["name", "colorHex", "id"]

  var facts: Facts {
    [
      "id": .id(id), "name": .text(name), "colorHex": .text(colorHex), "sortOrder": .integer(sortOrder),
      "createdAt": .instant(createdAt), "updatedAt": .instant(updatedAt),
    ]
  }
}
