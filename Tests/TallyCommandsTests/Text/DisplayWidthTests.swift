import Testing

@testable import TallyCommands

struct DisplayWidthTests {
  @Test(
    arguments: [
      ("abc", 3), ("", 0), ("é", 1), ("e\u{301}", 1), ("Grüße", 5), ("漢字", 4), ("ｱｲｳ", 3), ("ＡＢＣ", 6), ("한글", 4),
      ("\u{1112}\u{1161}\u{11AB}", 2), ("ไทย", 3), ("✓", 1), ("◦▸", 2), ("שלום", 4),
    ] as [(String, Int)])
  func lettersTakeTheColumnsATerminalGivesThem(text: String, width: Int) {
    #expect(text.displayWidth == width)
  }

  @Test(arguments: ["😀", "👨‍👩‍👧‍👦", "👩🏽‍💻", "🇹🇷", "🏴󠁧󠁢󠁷󠁬󠁳󠁿", "❤️", "1️⃣", "⌚", "🏳️‍🌈"])
  func oneEmojiIsTwoColumnsHoweverManyScalarsSpellIt(emoji: String) {
    #expect(emoji.count == 1)
    #expect(emoji.displayWidth == 2)
  }

  @Test func textSymbolIsNarrowWithoutTheEmojiSelector() {
    #expect("❤".displayWidth == 1)
  }

  @Test(arguments: ["\u{301}", "\u{200D}", "\u{200B}"])
  func loneMarksAndJoinersTakeNoColumn(text: String) {
    #expect(text.displayWidth == 0)
  }
}
