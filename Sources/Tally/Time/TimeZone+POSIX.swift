package import Foundation

extension TimeZone {
  /// A zone with one offset, written as in the `TZ` variable (`UTC-3` is three hours ahead of UTC); `nil` for any other.
  ///
  /// The name before the offset has no meaning. Rules for daylight saving time are refused: Foundation has no such zones.
  package init?(posix text: String) {
    guard let rule = YearlyRule(posix: text.utf8), rule.daylight == nil else { return nil }
    self.init(secondsFromGMT: Int(rule.standardOffset))
  }
}
