import Foundation
import TestSupport

@testable import Tally

/// Random filters, and random texts that are nearly filters.
struct RandomFilter {
  var generator: SeededGenerator

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
  }

  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: 0..<values.count, using: &generator)]
  }

  /// A filter composed as a program composes one, with up to a number of operations one inside another.
  mutating func filter(depth: Int) -> TaskFilter {
    guard depth > 0, !generator.oneIn(4) else { return generator.oneIn(20) ? pick([.all, !.all]) : condition() }
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: return !filter(depth: depth - 1)
    case 1: return filter(depth: depth - 1) && filter(depth: depth - 1)
    default: return filter(depth: depth - 1) || filter(depth: depth - 1)
    }
  }

  private mutating func condition() -> TaskFilter {
    let comparison = pick(TaskFilter.Comparison.allCases)
    switch Int.random(in: 0..<12, using: &generator) {
    case 0: return pick([.list(word()), .list(generator.uuid()), .list(nil), .list("Inbox")])
    case 1: return .tag(tag())
    case 2: return .state(pick(TaskState.allCases))
    case 3: return .parent(generator.uuid())
    case 4: return .priority(comparison, pick(Priority.allCases))
    case 5, 6: return .date(pick(TaskFilter.DateField.allCases), comparison, date())
    case 7: return .text(contains: word())
    case 8: return pick([.title(contains: word()), .notes(contains: word())])
    case 9: return pick([.has(pick(TaskFilter.Field.allCases)), .has(attribute: name())])
    case 10: return .is(pick(TaskFilter.Property.allCases))
    default: return .attribute(name(), comparison, literal())
    }
  }

  private mutating func date() -> DateExpression {
    let text = pick([
      "today", "tomorrow", "today+3d", "eow", "next friday", "25 nov", "2026-02-28", "2026-11-21T12:00:00.5Z", "now-2h",
      "today 5pm", "17:00", "in 3 weeks", "last monday",
    ])
    return (try? DateExpression(text)) ?? .today
  }

  private mutating func literal() -> TaskFilter.Literal {
    pick([.init(word()), .init(Int64.random(in: -9...9, using: &generator)), 2.5, true, .init(date())])
  }

  private mutating func name() -> String { word().replacing("\n", with: "n") }

  private mutating func tag() -> String {
    let scalars = word().unicodeScalars.filter { $0 != "#" && $0 != "," && $0 != "\n" }
    let tag = String(String.UnicodeScalarView(scalars)).trimmingCharacters(in: .whitespacesAndNewlines)
    return tag.isEmpty ? "home" : tag
  }

  /// Mostly one of the grammar's own words and signs, put together at random.
  private mutating func word() -> String {
    (0..<Int.random(in: 1...4, using: &generator)).map { _ in pick(Self.pieces) }.joined()
  }

  private static let pieces = [
    "home", "or", "AND", "not", "due", "today", "5pm", "x", "-", "#", "@", "!", "=", "<", ">", "~", ":", "(", ")", "\"",
    "\\", " ", "\n", "\u{A0}", "é", "e\u{301}", "\u{301}", "買", "👨‍👩‍👧", ",", ".", "+3d", "ﬁ", "İ", "K",
  ]

  /// A text of pieces of the grammar in any order.
  mutating func text() -> String {
    let pieces =
      Self.pieces + [
        "due<=", "list:", "#home", "is:open", "is:", "has:notes", "priority>=medium", "@a=5", "title~", "state:active",
        " or ", " and ", " not ", " -", " (", ") ", " ", " ", " ", "tomorrow", "\"tax form\"", "next", "friday", "!=",
      ]
    return (0..<Int.random(in: 0...12, using: &generator)).map { _ in pick(pieces) }.joined()
  }

  /// A text with a scalar taken out, doubled or replaced.
  mutating func damaged(_ text: String) -> String {
    var scalars = Array(text.unicodeScalars)
    guard !scalars.isEmpty else { return text }
    let index = Int.random(in: 0..<scalars.count, using: &generator)
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: scalars.remove(at: index)
    case 1: scalars.insert(scalars[index], at: index)
    default: scalars[index] = Array(pick(Self.pieces).unicodeScalars)[0]
    }
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }
}
