/// Titles that break programs; none is blank.
public enum NastyTexts {
  /// Each is stored and returned byte for byte.
  public static let all = [
    "a\0b", "\0", "\u{202E}evil\u{202C}", "\u{200F}\u{5D0}\u{200E}", "\u{301}", "e\u{301}", "\u{E9}", "\u{200B}",
    "\u{FEFF}bom", "👩‍👩‍👧‍👦", "🏳️‍🌈", "\u{1F1F9}\u{1F1F7}", "line\nbreak\r\nand\ttab", "\u{1B}[31mred", "ﷺ", "\u{10FFFF}",
    "\u{FFFD}",
    "'; DROP TABLE tasks; --", "\"quoted\" \\ backslash", " leading and trailing ", "\u{2028}\u{2029}x", "İstanbul ıi",
  ]
}
