extension DateExpression: CustomStringConvertible {
  /// The canonical text: without blanks, in lower case except for the letters of an ISO 8601 instant.
  ///
  /// Reading it again gives an equal value.
  public var description: String {
    switch form {
    case .day(let day): day.text
    case .time(let time): time.text
    case .dayAndTime(let day, let time): "\(day.text)@\(time.text)"
    case .sinceNow(let offset): "now" + offset.text
    case .instant(let instant): instant.iso8601
    }
  }
}

extension DateExpression: TextCodable {
  /// The same as ``description``.
  public var text: String { description }

  /// As ``init(_:as:dateOrder:)``.
  public init(text: String) throws(TallyError) { try self.init(text) }
}

extension DateExpression.Day {
  fileprivate var text: String {
    switch (base, offset) {
    case (.today, .init(days: 1)): "tomorrow"
    case (.today, .init(days: -1)): "yesterday"
    default: base.text + offset.text
    }
  }
}

extension DateExpression.Base {
  fileprivate var text: String {
    switch self {
    case .today: "today"
    case .weekday(let number, let occurrence):
      occurrence.prefix + CalendarNames.weekdays[number - 1].prefix(3).lowercased()
    case .date(let day): day.iso8601
    case .dayOfYear(let month, let day): "\(day)" + CalendarNames.months[month - 1].prefix(3).lowercased()
    case .dayOfMonth(let day): "\(day)\(Self.ordinalEnding(of: day))"
    case .start(let period): "so\(period.rawValue)"
    case .end(let period): "eo\(period.rawValue)"
    }
  }

  private static func ordinalEnding(of number: Int) -> String {
    switch (number / 10, number % 10) {
    case (1, _): "th"
    case (_, 1): "st"
    case (_, 2): "nd"
    case (_, 3): "rd"
    default: "th"
    }
  }
}

extension DateExpression.Occurrence {
  fileprivate var prefix: String {
    switch self {
    case .nearest: ""
    case .this: "this-"
    case .next: "next-"
    case .last: "last-"
    }
  }
}

extension DateExpression.Offset {
  /// The parts that are not zero, each in the largest unit that holds it exactly: `+1y`, `-2w`, `+1d+12h`.
  fileprivate var text: String {
    let months = part(months, units: [(12, "y"), (1, "mo")])
    let days = part(days, units: [(7, "w"), (1, "d")])
    return months + days + part(seconds, units: [(3_600, "h"), (60, "m"), (1, "s")])
  }

  private func part(_ count: Int, units: [(size: Int, name: String)]) -> String {
    guard count != 0, let unit = units.first(where: { count.isMultiple(of: $0.size) }) else { return "" }
    return "\(count < 0 ? "-" : "+")\(abs(count) / unit.size)\(unit.name)"
  }
}

extension DateExpression.TimeOfDay {
  fileprivate var text: String {
    "\(Self.twoDigits(minute / 60)):\(Self.twoDigits(minute % 60))"
  }

  private static func twoDigits(_ number: Int) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}
