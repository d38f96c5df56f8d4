/// The English names of weekdays and months.
public enum CalendarNames {
  /// From Monday on.
  public static let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
  /// From January on.
  public static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
  ]

  /// The number of a weekday, from 1 for Monday, by its name in any case: whole, in the plural, or its first letters from
  /// the third on (`mon`, `tues`).
  static func weekday(_ word: String) -> Int? {
    number(of: word, among: weekdays)
      ?? (word.hasSuffix("s") ? number(of: String(word.dropLast()), among: weekdays) : nil)
  }

  /// The number of a month, from 1 for January, by its name or its first letters from the third on, in any case.
  static func month(_ word: String) -> Int? {
    number(of: word, among: months)
  }

  private static func number(of word: String, among names: [String]) -> Int? {
    guard word.utf8.count >= 3 else { return nil }
    return names.firstIndex { $0.lowercased().hasPrefix(word.lowercased()) }.map { $0 + 1 }
  }
}
