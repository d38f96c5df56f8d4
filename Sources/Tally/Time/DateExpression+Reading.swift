extension DateExpression {
  /// Reads an expression, in any case; the whole text must be one.
  ///
  /// ```swift
  /// try DateExpression("next monday")
  /// try DateExpression("25 nov 17:00")
  /// try DateExpression("31 nov")                 // throws: the calendar has no such day
  /// ```
  ///
  /// - Parameters:
  ///   - text: The expression.
  ///   - kind: What the caller expects. A day may stand for an instant: the caller chooses its time, see
  ///     ``instant(against:bareDay:)``. An instant never stands for a day.
  ///   - dateOrder: How `3/4` is read; without it, such a date is refused.
  /// - Throws: `invalidDay` or `invalidInstant`, by the kind; `valueOutOfRange` for a year outside 1 to 9999.
  public init(_ text: String, as kind: Kind = .instant, dateOrder: DateOrder? = nil) throws(TallyError) {
    var parser = DateParser(CaptureToken.all(of: text), dateOrder: dateOrder)
    parser.allowsDecimals = true
    guard let expression = parser.expression(), parser.index == parser.tokens.count else {
      // The fault of an instant does not help where a day is expected.
      let fault = parser.fault.flatMap { kind == .day && $0.code == .invalidInstant ? nil : $0 }
      throw fault ?? Self.notUnderstood(parser.tokens, as: kind)
    }
    guard kind == .instant || expression.kind == .day else {
      throw TallyError(.invalidDay, "The text is a time, not a day", remedy: "Write \(Self.examplesOfDays)")
    }
    self = expression
  }

  private static let examplesOfDays = "a day as in today, friday, 25 nov, +3d or YYYY-MM-DD (2026-11-21)"
  private static let examplesOfTimes = "a time as in 17:00, tomorrow 9:00, friday 5pm, 2h or YYYY-MM-DD 17:00"

  private static func notUnderstood(_ tokens: [CaptureToken], as kind: Kind) -> TallyError {
    let unknown = tokens.first { $0.kind == .word && !names.contains($0.text) }
    let near = unknown.map { $0.text.nearNames(among: names, limit: 1) } ?? []
    let guess = near.first.map { "Did you mean '\($0)'? " } ?? ""
    return switch kind {
    case .day: TallyError(.invalidDay, "The text is not a day", remedy: "\(guess)Write \(examplesOfDays)")
    case .instant: TallyError(.invalidInstant, "The text is not a time", remedy: "\(guess)Write \(examplesOfTimes)")
    }
  }

  /// The words that a mistyped one is compared with.
  private static let names =
    ["today", "tomorrow", "yesterday", "tonight", "noon", "midnight", "next", "last", "days", "weeks", "months"]
    + CalendarNames.weekdays.map { $0.lowercased() } + CalendarNames.months.map { $0.lowercased() }
}
