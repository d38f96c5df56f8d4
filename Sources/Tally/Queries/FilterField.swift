/// What stands before an operator.
enum FilterField {
  case list, tag, state, parent, has, `is`, priority, attribute
  case text(TaskFilter.TextField)
  case date(TaskFilter.DateField)

  /// The field with a name, in any case; that of an attribute has none of its own.
  init?(name: String) {
    guard let field = Self.named[name.lowercased()] else { return nil }
    self = field
  }

  private static let named: [String: FilterField] = {
    var fields: [String: FilterField] = [
      "list": .list, "tag": .tag, "state": .state, "parent": .parent, "has": .has, "is": .is, "priority": .priority,
    ]
    for field in TaskFilter.TextField.allCases { fields[field.rawValue] = .text(field) }
    for field in TaskFilter.DateField.allCases { fields[field.rawValue] = .date(field) }
    return fields
  }()

  static let names = named.keys.sorted()

  /// The comparisons that make sense.
  var comparisons: [TaskFilter.Comparison] {
    switch self {
    case .list, .tag, .state, .parent, .has, .is: [.equals, .isNot]
    case .priority, .date: TaskFilter.Comparison.allCases.filter { $0 != .contains }
    case .attribute: TaskFilter.Comparison.allCases
    case .text: [.contains]
    }
  }

  /// A condition as an example.
  var example: String {
    switch self {
    case .list: "list:Work"
    case .tag: "#home"
    case .state: "state:active"
    case .parent: "parent: and the task's whole id"
    case .has: "has:notes"
    case .is: "is:open"
    case .priority: "priority>=medium"
    case .attribute: "@client=Acme"
    case .text(let field): "\(field.rawValue)~\"tax form\""
    case .date(let field): "\(field.rawValue)<=today"
    }
  }

  /// An example for a field that somebody may have meant by another name.
  static func example(meantBy name: String) -> String? {
    if let field = synonyms[name.lowercased()] { return field.example }
    return name.nearName(among: names).flatMap(FilterField.init)?.example
  }

  /// The names of other programs for a field.
  private static let synonyms: [String: FilterField] = [
    "scheduled": .date(.day), "scheduleddate": .date(.day), "planned": .date(.day), "date": .date(.day),
    "on": .date(.day), "duedate": .date(.due), "dueday": .date(.due), "deadline": .date(.due), "by": .date(.due),
    "remind": .date(.reminder), "reminderdate": .date(.reminder), "project": .list, "folder": .list, "in": .list,
    "label": .tag, "labels": .tag, "context": .tag, "status": .state, "name": .text(.title),
    "description": .text(.title), "contains": .text(.text), "modified": .date(.updated), "changed": .date(.updated),
    "done": .date(.completed), "finished": .date(.completed), "entry": .date(.created), "urgency": .priority,
  ]
}

extension String {
  /// The closest of some names, if this one may be a typing error.
  func nearName(among names: [String]) -> String? {
    // A long word is none, and the distance costs the product of the lengths.
    utf8.count <= 32 ? nearNames(among: names, limit: 1).first : nil
  }
}
