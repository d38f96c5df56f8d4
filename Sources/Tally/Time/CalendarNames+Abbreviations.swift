extension CalendarNames {
  /// The number of a weekday, by its name or a common abbreviation in lower case.
  ///
  /// Stricter than ``weekday(_:)``: in a sentence, a name cut anywhere is more often another word.
  static func commonWeekday(_ word: String) -> Int? {
    let isCommon = word.utf8.count == 3 || ["tues", "weds", "thur", "thurs"].contains(word)
    // `weds` is the one abbreviation that the name does not begin with.
    return number(of: word == "weds" ? "wed" : word, among: weekdays, isAbbreviated: isCommon)
  }

  /// The number of a month, by its name or a common abbreviation in lower case: `Marc` is none.
  static func commonMonth(_ word: String) -> Int? {
    number(of: word, among: months, isAbbreviated: word.utf8.count == 3 || word == "sept")
  }

  private static func number(of word: String, among names: [String], isAbbreviated: Bool) -> Int? {
    names.firstIndex { $0.lowercased() == word || isAbbreviated && $0.lowercased().hasPrefix(word) }.map { $0 + 1 }
  }
}
