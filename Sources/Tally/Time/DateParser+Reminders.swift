import TallyEngine

extension RelativeReminder {
  /// Reads the words of ``Reminder/init(text:of:)``; `nil` if the text has other words, or names no anchor where one is
  /// needed.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - anchor: The date from which the distance counts if the text names none; `nil` if there is no such date.
  /// - Throws: `valueOutOfRange`; the error of a time that does not exist.
  package init?(words text: String, of anchor: Anchor?) throws(TallyError) {
    var parser = DateParser(CaptureToken.all(of: text))
    guard let written = parser.relativeReminder(), parser.index == parser.tokens.count else { return nil }
    if let fault = parser.fault { throw fault }
    guard let anchor = written.anchor ?? anchor else { return nil }
    self = try written.relative(to: anchor)
  }
}

/// A relative reminder as it is written: the date from which it counts may be left out.
struct WrittenReminder {
  var days = 0
  var minutes = 0
  var time: DateExpression.TimeOfDay?
  var anchor: RelativeReminder.Anchor?

  /// Whether a task can have it.
  var isPossible: Bool { reminder(of: .due) != nil }

  /// The reminder, which counts from a given date unless the words name one; `nil` for a distance that is too large.
  func reminder(of anchor: RelativeReminder.Anchor) -> RelativeReminder? { try? relative(to: self.anchor ?? anchor) }

  fileprivate func relative(to anchor: RelativeReminder.Anchor) throws(TallyError) -> RelativeReminder {
    try RelativeReminder(daysBefore: days, minutesBefore: minutes, anchor, atMinute: time?.minute)
  }
}

extension DateParser {
  /// Reads `1 day before`, `2 hours before it is due`, `1 day before it is planned`, `9:00 on the day`, `the day before at 9`.
  mutating func relativeReminder() -> WrittenReminder? {
    attempt { parser in
      if parser.skip("when") { return parser.reminderAnchor().map { WrittenReminder(anchor: $0) } }
      let time = parser.time()
      guard var reminder = parser.distanceBefore() else { return nil }
      reminder.time = time ?? parser.attempt { $0.time(after: DateExpression.Day(.today)) }
      return reminder.time != nil && reminder.minutes > 0 ? nil : reminder
    }
  }

  private mutating func distanceBefore() -> WrittenReminder? {
    attempt { parser in
      let hasOn = parser.skip("on")
      if hasOn, parser.skip(words: "its", "day") { return WrittenReminder(anchor: .scheduled) }
      if parser.skip(words: "the", "day") || parser.skip("day") {
        let isBefore = parser.skip("before")
        guard hasOn || isBefore else { return nil }
        return WrittenReminder(days: isBefore ? 1 : 0, anchor: parser.reminderAnchor())
      }
      guard !hasOn, let offset = parser.anyDuration(), parser.skip("before"), offset.months == 0,
        offset.seconds % 60 == 0
      else { return nil }
      return WrittenReminder(days: offset.days, minutes: offset.seconds / 60, anchor: parser.reminderAnchor())
    }
  }

  private mutating func reminderAnchor() -> RelativeReminder.Anchor? {
    attempt { parser in
      let isVerb = parser.skip(words: "it", "is")
      if parser.skip("due") { return .due }
      if isVerb { return parser.skip("planned") || parser.skip("scheduled") ? .scheduled : nil }
      if parser.skip("deadline") || parser.skip(words: "the", "deadline") { return .due }
      return parser.skip(words: "its", "day") || parser.skip(words: "the", "day")
        || parser.skip(words: "the", "planned", "day") ? .scheduled : nil
    }
  }
}
