import Testing

@testable import TallyCommands

struct EscapingTests {
  @Test(
    arguments: [
      ("a\nb", #"a\nb"#), ("a\r\nb", #"a\r\nb"#), ("a\tb", #"a\tb"#), ("\u{1B}[31mred", #"\u{1B}[31mred"#),
      ("\0", #"\u{0}"#),
      ("\u{7F}", #"\u{7F}"#), ("\u{9B}2J", #"\u{9B}2J"#), ("\u{202E}txt.exe", #"\u{202E}txt.exe"#),
      ("\u{2066}x\u{2069}", #"\u{2066}x\u{2069}"#), ("a\u{2028}b", #"a\u{2028}b"#), ("a\u{200B}b", #"a\u{200B}b"#),
      ("\u{FEFF}a", #"\u{FEFF}a"#), ("a\u{E0041}", #"a\u{E0041}"#),
    ] as [(String, String)])
  func whatDrivesTheTerminalOrHidesIsShown(text: String, shown: String) {
    #expect(text.escapedForDisplay() == shown)
  }

  @Test(arguments: ["Grüße", "漢字", "👨‍👩‍👧‍👦", "🏴󠁧󠁢󠁷󠁬󠁳󠁿", "می‌خواهم", "ab\u{200F}c", "e\u{301}", #"C:\new"#])
  func ordinaryTextOfAnyScriptStaysAsItIs(text: String) {
    #expect(text.escapedForDisplay() == text)
  }

  @Test func pileOfMarksIsCutDown() {
    let pile = "e" + String(repeating: "\u{338}", count: 500)
    let shown = pile.escapedForDisplay()
    #expect(shown.unicodeScalars.count { $0 == "\u{338}" } == 10)
    #expect(shown.hasSuffix(#"\u{338}"#))
  }

  @Test func recordsDoubleTheBackslashSoThatTheyCanBeReadBack() {
    #expect("a\\n\n".escapedForDisplay(escapingBackslash: true) == #"a\\n\n"#)
  }

  @Test func everyControlCharacterIsShown() {
    for value in Array(UInt32(0)...0x1F) + Array(0x7F...0x9F) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let shown = "x\(scalar)y".escapedForDisplay()
      #expect(shown.unicodeScalars.allSatisfy { !$0.drivesOrHides }, "U+\(String(value, radix: 16))")
    }
  }
}
