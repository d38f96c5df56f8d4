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
    // As other programs call them.
    (fields["p"], fields["pri"], fields["scheduled"]) = (.priority, .priority, .date(.day))
    for field in TaskFilter.TextField.allCases { fields[field.rawValue] = .text(field) }
    for field in TaskFilter.DateField.allCases { fields[field.rawValue] = .date(field) }
    return fields
  }()

  static let names = named.keys.filter { !["p", "pri", "scheduled"].contains($0) }.sorted()

  /// The field and the comparison of `due.before` and the like, which shells leave alone.
  static func compared(by name: String) -> (FilterField, TaskFilter.Comparison)? {
    let parts = name.lowercased().split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let field = FilterField(name: parts[0]), let comparison = comparisonNames[parts[1]] else {
      return nil
    }
    return (field, comparison)
  }

  private static let comparisonNames: [String: TaskFilter.Comparison] = [
    "is": .equals, "not": .isNot, "isnt": .isNot, "before": .less, "below": .less, "under": .less, "by": .atMost,
    "until": .atMost, "max": .atMost, "after": .greater, "above": .greater, "over": .greater, "since": .atLeast,
    "from": .atLeast, "min": .atLeast, "has": .contains, "contains": .contains,
  ]

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
    case .tag: "+home"
    case .state: "state:active"
    case .parent: "parent: and the task's whole id"
    case .has: "has:notes"
    case .is: "is:open"
    case .priority: "p:high"
    case .attribute: "@client=Acme"
    case .text(let field): "\(field.rawValue)~\"tax form\""
    case .date(let field): "\(field.rawValue).by:today"
    }
  }

  /// An example for a field that somebody may have meant by another name.
  static func example(meantBy name: String) -> String? {
    if let field = synonyms[name.lowercased()] { return field.example }
    return name.nearName(among: names).flatMap(FilterField.init)?.example
  }

  /// A condition in other programs' words, as it is written here: `list:Home` for `project:Home`.
  static func condition(meantBy name: String, _ value: String) -> String? {
    guard !value.isEmpty else { return nil }
    return switch synonyms[name.lowercased()] {
    case .list: "list:\(value)"
    case .tag: "+\(value)"
    default: nil
    }
  }

  /// The names of other programs for a field.
  private static let synonyms: [String: FilterField] = [
    "scheduleddate": .date(.day), "planned": .date(.day), "date": .date(.day),
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
