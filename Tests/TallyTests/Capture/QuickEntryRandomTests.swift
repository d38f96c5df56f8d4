import Foundation
import TallyTestSupport
import Testing

@testable import Tally

struct QuickEntryRandomTests {
  private static let pieces = [
    "tomorrow", "friday", "9am", "at", "9", "every", "day", "month", "on", "the", "1st", "due", "by", "remind", "me",
    "to",
    "#home", "!high", "#", "!", "\\", "\"", "“", "”", "(", ")", ",", ".", ":", "-", "+3d", "in", "2", "hours", "for",
    "Work",
    "list:", "Ann", "nov", "25", "until", "and", "🙂", "\u{301}", "日本", "é", "\u{0}", "\t", "\n", "\u{202E}",
    "2026-12-01",
    "after", "completion", "every!", "hours", "3pm", "4pm", "24/12", "24.12.", "p1", "deadline", "someday", "tom",
    "half",
    "an", "hour", "next", "week", "before", "@", "/", "'s", "Today", "9999-12-31", "\r\n", "ﬁ", "İ", "٣",
  ]

  @Test func anyTextGivesATitleAndRangesInOrder() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "QuickEntryRandomTests"))
    let references = try [
      DateExpressionTests.now, "9999-12-31T22:00:00Z", "0001-01-01T00:00:00Z", "2028-02-29T00:30:00Z",
    ]
    .map { try DateExpressionTests.reference($0) }
    var understood = 0
    for _ in 0..<6_000 {
      let text = Self.text(using: &random)
      let reference = references.randomElement(using: &random) ?? references[0]
      let entry = QuickEntry.parse(text, reference: reference, lists: random.oneIn(2) ? ["Work", "", "Ann 25"] : nil)
      understood += entry.parts.isEmpty ? 0 : 1
      Self.check(entry, of: text)
    }
    #expect(understood > 600)
  }

  /// Pieces that often mean something, or any scalars.
  private static func text(using random: inout SeededGenerator) -> String {
    if random.oneIn(8) {
      let scalars = (0..<Int.random(in: 0...20, using: &random)).compactMap { _ in
        Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random))
      }
      return String(String.UnicodeScalarView(scalars))
    }
    var text = ""
    for _ in 0..<Int.random(in: 0...10, using: &random) {
      text += pieces.randomElement(using: &random) ?? ""
      if !random.oneIn(4) { text += " " }
    }
    return text
  }

  private static func check(_ entry: QuickEntry, of text: String) {
    let isBlank = text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
    let hasTitle = entry.title.unicodeScalars.contains { !$0.properties.isWhitespace }
    #expect(hasTitle != isBlank, "\(text.debugDescription)")
    #expect(entry.title.utf8.count <= text.utf8.count, "\(text.debugDescription)")
    var place = text.startIndex
    for part in entry.parts {
      #expect(part.range.lowerBound >= place && !part.range.isEmpty, "\(text.debugDescription)")
      place = part.range.upperBound
    }
    #expect(place <= text.endIndex)
    #expect(entry.dueDate == nil || entry.dueDay == nil, "\(text.debugDescription)")
    #expect((try? entry.tags.validate()) != nil, "\(text.debugDescription)")
    // Only marked words change a field.
    let kinds = Set(entry.parts.map(\.kind))
    #expect(kinds.contains(.tag) == !entry.tags.isEmpty)
    #expect(kinds.contains(.priority) == (entry.priority != .none))
    #expect(kinds.contains(.list) == (entry.listName != nil))
    #expect(kinds.contains(.recurrence) == (entry.recurrence != nil))
    let hasSpan = entry.leftovers.contains { $0.reason == .timeSpan }
    if !kinds.contains(.schedule), !kinds.contains(.recurrence), !hasSpan { #expect(entry.scheduledDate == nil) }
    for leftover in entry.leftovers {
      #expect(!entry.parts.contains { $0.range.overlaps(leftover.range) }, "\(text.debugDescription)")
    }
  }
}
