public import Foundation

extension Recurrence: TextCodable {
  /// The recurrence in the form that is stored and exported: `FREQ=MONTHLY;BYDAY=-1FR` or `after 3 days`.
  ///
  /// Equal recurrences have the same text.
  public var text: String {
    switch self {
    case .rule(let rule): rule.text
    case .afterCompletion(let interval): "after \(interval.counted)"
    }
  }

  /// Reads a recurrence from the form of ``text``, with the instants in `UNTIL` as days in UTC.
  ///
  /// - Throws: As ``init(text:timeZone:)``.
  public init(text: String) throws(TallyError) {
    try self.init(text: text, timeZone: .gmt)
  }

  /// Reads a recurrence: a rule of RFC 5545, with or without `RRULE:`, or `after 3 days`.
  ///
  /// Case and the order of the parts do not count. An `UNTIL` with a time in UTC means the day that it has in the time
  /// zone; most calendars write the last instant of the last day, or the last occurrence itself. One with a time later on
  /// its last day than the time of `UNTIL` thus has one occurrence more than by the RFC, which compares instants.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - timeZone: The zone of the times that the rule was made for.
  /// - Throws: `invalidRecurrence` for any other text, and for a rule with parts that are not supported.
  public init(text: String, timeZone: TimeZone) throws(TallyError) {
    let text = text.trimmingCharacters(in: .whitespaces)
    guard text.lowercased().hasPrefix("after ") else {
      self = .rule(try RecurrenceRuleParser.rule(text, timeZone: timeZone))
      return
    }
    var phrase = RecurrencePhrase(text)
    let recurrence = try phrase.recurrence()
    guard phrase.isAtEnd else { throw phrase.fault }
    self = recurrence
  }
}
