import Foundation
import TallyTestSupport
import Testing

@testable import Tally

struct DateExpressionRandomTests {
  private static let pieces = [
    "today", "tomorrow", "mon", "next", "last", "this", "friday", "nov", "25", "9", "17", ":", "00", "30", "pm", "am",
    "+",
    "-", "3", "d", "w", "mo", "h", "m", "in", "ago", "days", "at", "@", "on", "eom", "week", "end", "of", "1st", "noon",
    "tonight", "2026-11-25", "T12:00Z", ",", "2027", "now", "a", "the", "🙂", "\u{301}", "morning", "29", "feb",
  ]

  /// An expression prints a text that reads back as the same, and resolves without a trap.
  @Test func everyTextThatIsReadIsPrintedAsItself() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "DateExpressionRandomTests"))
    let forward = try DateExpressionTests.reference()
    let backward = try DateExpressionTests.reference(looking: .backward)
    var count = 0
    for _ in 0..<15_000 {
      var text = ""
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        text += Self.pieces.randomElement(using: &random) ?? ""
        if random.oneIn(2) { text += " " }
      }
      guard let expression = try? DateExpression(text) else { continue }
      count += 1
      let printed = expression.description
      #expect(!printed.contains(" "), "\(text)")
      #expect(try DateExpression(printed) == expression, "\(text) → \(printed)")
      do throws(TallyError) {
        let resolved = try expression.resolved(against: forward)
        #expect(try DateExpression(printed).resolved(against: forward) == resolved, "\(text) → \(printed)")
        _ = try expression.resolved(against: backward)
      } catch {
        #expect(error.code == .valueOutOfRange, "\(text)")
      }
    }
    #expect(count > 200)
  }
}
