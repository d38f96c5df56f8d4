/// The English names of weekdays and months.
public enum CalendarNames {
  /// From Monday on.
  public static let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
  /// From January on.
  public static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
  ]

  /// The number of a weekday, from 1 for Monday, given its name in any case: in full, in the plural, or cut
  /// after three or more letters (`mon`, `tues`).
  package static func weekday(_ word: String) -> Int? {
    number(of: word, among: weekdays)
      ?? (word.hasSuffix("s") ? number(of: String(word.dropLast()), among: weekdays) : nil)
  }

  /// The number of a month, from 1 for January, given its name in any case, in full or cut after three or more letters.
  static func month(_ word: String) -> Int? {
    number(of: word, among: months)
  }

  private static func number(of word: String, among names: [String]) -> Int? {
    guard word.utf8.count >= 3 else { return nil }
    return names.firstIndex { $0.lowercased().hasPrefix(word.lowercased()) }.map { $0 + 1 }
  }
}

extension CalendarNames {
  /// The number of a weekday, given its name or a common abbreviation in lower case.
  ///
  /// Stricter than ``weekday(_:)``: in a sentence, a name cut at any letter is more often another word.
  static func commonWeekday(_ word: String) -> Int? {
    let isCommon = word.utf8.count == 3 || ["tues", "weds", "thur", "thurs"].contains(word)
    // `weds` is the only abbreviation that is not a prefix of the name.
    return number(of: word == "weds" ? "wed" : word, among: weekdays, isAbbreviated: isCommon)
  }

  /// The number of a month, given its name or a common abbreviation in lower case; `Marc` is not one.
  static func commonMonth(_ word: String) -> Int? {
    number(of: word, among: months, isAbbreviated: word.utf8.count == 3 || word == "sept")
  }

  private static func number(of word: String, among names: [String], isAbbreviated: Bool) -> Int? {
    names.firstIndex { $0.lowercased() == word || isAbbreviated && $0.lowercased().hasPrefix(word) }.map { $0 + 1 }
  }
}
