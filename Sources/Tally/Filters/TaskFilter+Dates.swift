extension TaskFilter {
  /// Whether it matters with which day a week begins.
  package var countsWeeks: Bool {
    root.contains { if case .date(_, _, let date) = $0 { date.countsWeeks } else { false } }
  }
}

extension TaskFilter {
  /// The tasks whose day or instant compares with another one.
  ///
  /// Days are compared where either side has no time: `due<=friday` asks for the local day of the due date. With a time,
  /// instants are compared, and a due day counts as its last moment. The planned day is always compared as a day.
  ///
  /// - Parameters:
  ///   - field: the field to look at; a comparison with a missing one is false.
  ///   - comparison: how to compare; `contains` finds nothing.
  ///   - date: the day or instant, which stays relative.
  /// - Returns: the filter.
  public static func date(
    _ field: DateField, _ comparison: Comparison, _ date: DateExpression
  ) -> TaskFilter {
    comparison == .contains ? !.all : comparison.filter { .date(field, $0, date) }
  }

  /// The tasks planned for a day, or for any day of a span; as ``date(_:_:_:)``.
  public static func day(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.day, on: day, after: start, before: end)
  }

  /// The tasks due on a day, or in a span; as ``date(_:_:_:)``.
  public static func due(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.due, on: day, after: start, before: end)
  }

  /// The tasks with a reminder on a day, or in a span; as ``date(_:_:_:)``.
  public static func reminder(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.reminder, on: day, after: start, before: end)
  }

  /// The tasks created on a day, or in a span; as ``date(_:_:_:)``.
  public static func created(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.created, on: day, after: start, before: end)
  }

  /// The tasks last changed on a day, or in a span; as ``date(_:_:_:)``.
  public static func updated(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.updated, on: day, after: start, before: end)
  }

  /// The tasks completed on a day, or in a span; as ``date(_:_:_:)``.
  public static func completed(
    on day: DateExpression? = nil, after start: DateExpression? = nil, before end: DateExpression? = nil
  ) -> TaskFilter {
    span(.completed, on: day, after: start, before: end)
  }

  /// All the comparisons that are given; without any, the tasks that have the field.
  private static func span(
    _ field: DateField, on day: DateExpression?, after start: DateExpression?, before end: DateExpression?
  ) -> TaskFilter {
    let bounds: [(Comparison, DateExpression?)] = [(.equals, day), (.greater, start), (.less, end)]
    let filters = bounds.compactMap { comparison, date in date.map { TaskFilter.date(field, comparison, $0) } }
    guard let first = filters.first else { return .date(field, .atLeast, .day(.earliest)) }
    return filters.dropFirst().reduce(first) { $0 && $1 }
  }
}
