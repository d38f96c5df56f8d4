import Testing

@testable import TallyCommands

struct FittingTests {
  @Test func columnsAreAsWideAsTheirWidestLine() {
    #expect(["a", "漢字"].column(ofWidthAtMost: 8) == ["a   ", "漢字"])
    #expect(["abcdef", "ab"].column(ofWidthAtMost: 4) == ["abc…", "ab  "])
    #expect(["1,000", "7"].numberColumn == ["1,000", "    7"])
    #expect([String]().numberColumn == [])
  }

  @Test(
    arguments: [
      ("Buy milk", 8, "Buy milk"), ("Buy milk", 7, "Buy mi…"), ("漢字漢字", 8, "漢字漢字"), ("漢字漢字", 7, "漢字漢…"),
      ("漢字漢字", 6, "漢字…"), ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 3, "👨‍👩‍👧‍👦…"), ("abc", 1, "…"), ("abc", 0, ""), ("", 5, ""),
    ] as [(String, Int, String)])
  func truncationKeepsTheWidthAndCutsBetweenCharacters(text: String, width: Int, expected: String) {
    #expect(text.truncated(toWidth: width) == expected)
    #expect(expected.displayWidth <= width)
  }

  @Test func noWidthIsExceededWhateverTheText() {
    let text = "A 漢字 👩🏽‍💻 e\u{301} 🇹🇷 word ❤️ end"
    for width in 0...text.displayWidth + 1 {
      #expect(text.truncated(toWidth: width).displayWidth <= width)
    }
  }

  @Test func linesBreakAtBlanks() {
    #expect("one two three".wrapped(toWidth: 8) == ["one two", "three"])
  }

  @Test func longWordIsCutBetweenCharacters() {
    #expect("漢字漢字漢".wrapped(toWidth: 5) == ["漢字", "漢字", "漢"])
    #expect("ab abcdefgh".wrapped(toWidth: 4) == ["ab", "abcd", "efgh"])
  }

  @Test func lineBreaksOfTheTextAreKept() {
    #expect("a\n\nb\r\nc".wrapped(toWidth: 10) == ["a", "", "b", "c"])
    #expect("to do:\n  one two three".wrapped(toWidth: 9) == ["to do:", "  one two", "  three"])
    #expect("   ".wrapped(toWidth: 9) == [""])
    #expect("      far".wrapped(toWidth: 9) == ["far"])
  }

  @Test func paddingCountsColumnsAndNotCharacters() {
    #expect("漢".padded(toWidth: 4) == "漢  ")
    #expect("long".padded(toWidth: 2) == "long")
  }

  @Test(arguments: [
    ("Not understood: a date (line 23)", 27, ["Not understood: a date", "(line 23)"]),
    ("Not understood: a date (line 23).", 32, ["Not understood: a date", "(line 23)."]),
    ("The title is empty (line 2, column 1).", 30, ["The title is empty", "(line 2, column 1)."]),
    ("one (line 2 two three", 12, ["one (line 2", "two three"]), ("a (line 123456)", 9, ["a (line", "123456)"]),
  ])
  func aPlaceStaysInOneLine(text: String, width: Int, lines: [String]) {
    #expect(text.wrapped(toWidth: width) == lines)
  }
}
