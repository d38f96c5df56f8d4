import Tally

extension TaskState {
  /// A sign for the state, distinct without colour.
  ///
  /// Each is one column wide in every terminal: common circles and squares have ambiguous width and take two columns in
  /// East Asian setups.
  var glyph: String {
    switch self {
    case .notStarted: "◦"
    case .active: "▸"
    case .completed: "✓"
    }
  }

  /// The state in words.
  var words: String {
    switch self {
    case .notStarted: "not started"
    case .active: "active"
    case .completed: "done"
    }
  }
}

extension Int {
  /// The number with its noun: `1 task`, `2 tasks`.
  func counted(_ noun: String) -> String {
    "\(grouped) \(noun)\(self == 1 ? "" : "s")"
  }

  /// The number with commas between thousands.
  var grouped: String {
    var result = ""
    for (index, digit) in String(magnitude).enumerated() {
      if index > 0, (String(magnitude).count - index) % 3 == 0 { result.append(",") }
      result.append(digit)
    }
    return (self < 0 ? "-" : "") + result
  }
}
