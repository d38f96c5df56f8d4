extension Recurrence {
  /// Reads a recurrence as people write it in English, or in the form of ``text``.
  ///
  /// ```swift
  /// try Recurrence(phrase: "every other monday")
  /// try Recurrence(phrase: "every month on the 1st and the last day, 12 times")
  /// try Recurrence(phrase: "3 days after completion")
  /// ```
  ///
  /// A phrase is one of
  /// - `daily`, `weekly`, `fortnightly`, `monthly`, `quarterly`, `yearly`; `every 3 days`, `every other week`;
  /// - `every weekday`, `every weekend`, `every monday and thursday`, `every other friday`;
  /// - `every 15th`, `every last friday of the month`, `every last day of the month`;
  /// - `every 2 weeks on monday and friday`, `every month on the last friday`, `yearly on the 20th monday`;
  /// - `after 3 days`, `every 3 days after completion`;
  ///
  /// and, except after completion, may end with `until 31 December 2026`, `until 2026-12-31` or `for 10 times`. Case does
  /// not count, and weekdays and months may be cut after three letters. Everything that ``words`` returns is a phrase.
  ///
  /// - Throws: `invalidRecurrence` for any other text.
  public init(phrase text: String) throws(TallyError) {
    guard !text.contains("=") else {
      try self.init(text: text)
      return
    }
    var phrase = RecurrencePhrase(text)
    self = try phrase.recurrence()
    guard phrase.isAtEnd else { throw phrase.fault }
  }

  /// Reads the longest recurrence with which some words begin, for a sentence that goes on with something else.
  ///
  /// - Parameter words: The words, with each comma as a word of its own.
  /// - Returns: The recurrence and the number of its words; `nil` if the words begin with none.
  package static func prefix(of words: [String]) -> (recurrence: Recurrence, wordCount: Int)? {
    var phrase = RecurrencePhrase(words: words)
    return (try? phrase.recurrence()).map { ($0, phrase.index) }
  }
}
