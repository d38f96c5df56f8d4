/// Reads date expressions from tokens; each part is `nil`, with the place unchanged, where the tokens have something
/// else.
struct DateParser {
  let tokens: [CaptureToken]
  /// The next token to read.
  var index: Int
  /// Whether a number alone is an hour where a time may follow.
  var allowsBareHours = true
  /// How `3/4` is read; without it, it is ambiguous.
  var dateOrder: DateOrder?
  /// Whether `24.12` is a date: where nothing but a date can stand.
  var allowsDecimals = false
  /// Whether the last time that was read is a number alone.
  var hasBareHour = false
  /// Why a text of the right form has no meaning, such as 31 November.
  var fault: TallyError?

  /// Counts the tokens that are looked at.
  private let work: CaptureWork?

  init(_ tokens: [CaptureToken], at index: Int = 0, dateOrder: DateOrder? = nil, counting work: CaptureWork? = nil) {
    self.tokens = tokens
    self.index = index
    self.dateOrder = dateOrder
    self.work = work
  }

  /// Reads the longest expression at the place.
  mutating func expression() -> DateExpression? {
    if let instant = instant() { return .instant(instant) }
    if let offset = offsetFromNow() { return DateExpression(.sinceNow(offset)) }
    if let form = partOfToday() { return DateExpression(form) }
    if let day = day() {
      return DateExpression(attempt { $0.time(after: day) }.map { .dayAndTime(day, $0) } ?? .day(day))
    }
    guard let time = time() else { return nil }
    let day = attempt { parser in
      _ = parser.take("on")
      return parser.day()
    }
    return DateExpression(day.map { .dayAndTime($0, time) } ?? .time(time))
  }

  /// Reads an instant of ISO 8601, which has no blanks.
  private mutating func instant() -> Timestamp? {
    attempt { parser in
      guard let day = parser.isoDay(), parser.token(isGlued: true)?.kind == .word else { return nil }
      var text = day.iso8601
      while let token = parser.token(isGlued: true) {
        // A full stop or a comma behind the instant belongs to the sentence.
        guard token.kind != .symbol || parser.tokens[(parser.index + 1)...].first?.isGlued == true else { break }
        text += token.text
        parser.index += 1
      }
      do throws(TallyError) {
        return try Timestamp(iso8601: text)
      } catch {
        parser.fault = error
        return nil
      }
    }
  }
}

/// Counts the parser's steps; tests check that they grow linearly with the sentence.
final class CaptureWork {
  /// The number of tokens that were looked at.
  var stepCount = 0
}

extension DateParser {
  /// Runs a step, and goes back to where it began if it reads nothing.
  mutating func attempt<Result>(_ step: (inout DateParser) -> Result?) -> Result? {
    let start = index
    let result = step(&self)
    if result == nil { index = start }
    return result
  }

  /// The next token; `nil` at the end, and where one that follows without a blank is wanted and another is there.
  func token(isGlued: Bool = false) -> CaptureToken? {
    work?.stepCount += 1
    guard index < tokens.count, !isGlued || tokens[index].isGlued else { return nil }
    return tokens[index]
  }

  /// Skips a word or symbol.
  mutating func take(_ text: String, isGlued: Bool = false) -> Bool {
    guard token(isGlued: isGlued)?.text == text else { return false }
    index += 1
    return true
  }

  /// Skips words in this order.
  mutating func take(words: String...) -> Bool {
    attempt { parser in
      words.allSatisfy { parser.take($0) } ? true : nil
    } ?? false
  }

  /// Reads a word that has a meaning.
  mutating func word<Meaning>(isGlued: Bool = false, _ meaning: (String) -> Meaning?) -> Meaning? {
    guard let token = token(isGlued: isGlued), token.kind == .word, let meaning = meaning(token.text) else {
      return nil
    }
    index += 1
    return meaning
  }

  /// Reads a number of some digits.
  mutating func number(digits: ClosedRange<Int>, isGlued: Bool = false) -> Int? {
    guard let token = token(isGlued: isGlued), token.kind == .number, digits.contains(token.text.utf8.count),
      let number = Int(token.text)
    else { return nil }
    index += 1
    return number
  }

  /// Sets a fault if the next token is a number with too many digits, and what follows would give a shorter one a
  /// meaning.
  mutating func noteIfTooLarge(
    digits: Int, isGlued: Bool = false, _ fault: @autoclosure () -> TallyError,
    if follows: (inout DateParser) -> Bool
  ) {
    guard let token = token(isGlued: isGlued), token.kind == .number, token.text.utf8.count > digits else { return }
    var ahead = self
    ahead.index += 1
    if follows(&ahead) { self.fault = fault() }
  }
}
