extension Character {
  /// The terminal columns the character takes: 0, 1 or 2.
  ///
  /// The first scalar decides, because a terminal draws the others onto it; only the emoji variation selector widens
  /// what would be narrow alone. Adding up the widths of all scalars, as with `wcwidth`, would count a family of four as
  /// eight columns.
  var displayWidth: Int {
    guard let first = unicodeScalars.first else { return 0 }
    if first.value < 0x7F { return narrowWidth(of: first) }
    if first.isZeroWidth { return 0 }
    return first.isWide || isDrawnAsEmoji ? 2 : 1
  }

  private func narrowWidth(of ascii: Unicode.Scalar) -> Int {
    // "1" followed by U+FE0F and U+20E3 is a keycap, which is drawn as an emoji.
    if unicodeScalars.count > 1, isDrawnAsEmoji { return 2 }
    return ascii.value < 0x20 ? 0 : 1
  }

  private var isDrawnAsEmoji: Bool {
    unicodeScalars.dropFirst().contains { $0 == "\u{FE0F}" }
  }
}

extension StringProtocol {
  /// The terminal columns the text takes on one line.
  var displayWidth: Int {
    // Counting bytes is enough for most titles.
    if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return utf8.count }
    return reduce(0) { $0 + $1.displayWidth }
  }
}

extension Unicode.Scalar {
  /// Takes no column of its own: combining marks, joiners, and the vowels and finals of Hangul syllables.
  fileprivate var isZeroWidth: Bool {
    if (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FF).contains(value) { return true }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .control, .lineSeparator, .paragraphSeparator:
      return true
    case .format:
      return !Self.visibleFormatCharacters.contains { $0.contains(value) }
    default:
      return false
    }
  }

  /// Twice as wide as a Latin letter: East Asian Wide and Fullwidth, and emoji by default.
  fileprivate var isWide: Bool {
    if value < 0x1100 { return false }
    return properties.isEmojiPresentation || Self.wideRanges.contains { $0.contains(value) }
  }

  /// Format characters that are drawn: the soft hyphen, and signs that enclose the digits after them.
  private static let visibleFormatCharacters: [ClosedRange<UInt32>] = [
    0xAD...0xAD, 0x600...0x605, 0x6DD...0x6DD, 0x70F...0x70F, 0x890...0x891, 0x8E2...0x8E2, 0x110BD...0x110BD,
    0x110CD...0x110CD,
  ]

  /// Property East_Asian_Width, values W and F, of Unicode 16, except emoji.
  ///
  /// The standard library knows which scalars are emoji but not this property. Gaps inside a block of wide characters
  /// are closed, so that characters of later versions are right, too.
  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2630...0x2637, 0x268A...0x268F, 0x2E80...0x303E, 0x3041...0x3247,
    0x3250...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
    0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x16FFF, 0x17000...0x18DFF, 0x1AFF0...0x1B2FF, 0x1D300...0x1D376,
    0x1F200...0x1F265, 0x20000...0x3FFFD,
  ]
}
