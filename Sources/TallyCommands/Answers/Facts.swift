import Foundation
import Tally

/// What a command answers: a tree of names and values, written once and printed as JSON or as the records of `--plain`.
///
/// The names are keys of the JSON and, joined by dots, the names of the records; both are part of the command line's
/// contract, and so is their order.
enum Facts {
  case text(String?)
  case integer(Int64?)
  case flag(Bool)
  case id(UUID?)
  case instant(Timestamp?)
  case offsetInstant(OffsetTimestamp?)
  case day(CalendarDay?)
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

  static func count(_ number: Int) -> Facts { .integer(Int64(number)) }
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
  /// The columns of a task's record.
  static let columns = ["handle", "state", "scheduledDate", "dueDate", "completedAt", "list", "title", "id"]

  var facts: Facts {
    var members: [Facts.Member] = []
    for field in TaskField.all {
      members.append((Facts.Name(field == .text ? "title" : field.name), Facts(task[field])))
      if field == .id { members.append(("handle", .text(handle))) }
      if field == .listID { members.append(("list", .text(list?.name))) }
    }
    return .object(members)
  }
}

extension Facts {
  /// The value of a field.
  fileprivate init(_ value: FieldValue?) {
    self =
      switch value {
      case .text(let text)?: .text(text)
      case .state(let state)?: .text(state.name)
      case .integer(let number)?: .integer(number)
      case .instant(let instant)?: .instant(instant)
      case .offsetInstant(let instant)?: .offsetInstant(instant)
      case .day(let day)?: .day(day)
      case .id(let id)?: .id(id)
      case nil: .text(nil)
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
