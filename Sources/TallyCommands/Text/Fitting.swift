import Foundation

extension String {
  /// The text in at most `width` columns, with an ellipsis if something was cut off.
  ///
  /// The text must not contain line breaks. The cost depends on the part that remains, not on the part that is cut off.
  func truncated(toWidth width: Int) -> String {
    if utf8.count <= width { return self }
    var (used, end, endWithEllipsis) = (0, startIndex, startIndex)
    while end < endIndex {
      let next = used + self[end].displayWidth
      if next > width { return width > 0 ? self[..<endWithEllipsis] + "…" : "" }
      used = next
      end = index(after: end)
      if used < width { endWithEllipsis = end }
    }
    return self
  }

  /// The text followed by enough spaces to fill `width` columns.
  func padded(toWidth width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - displayWidth))
  }

  /// The text broken into lines of at most `width` columns, at spaces if there are any.
  ///
  /// Line breaks are kept. Continuation lines get the indentation of their line. A word that is longer than a line is cut between
  /// characters, or else gets a line of its own, so that a path or a command can be copied as a whole.
  func wrapped(toWidth width: Int, cuttingWords cutsWords: Bool = true) -> [String] {
    split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).flatMap { paragraph in
      let width = Swift.max(2, width)
      let rest = paragraph.drop { $0 == " " }
      let indent = paragraph.count - rest.count
      guard !rest.isEmpty, indent <= width / 2 else { return rest.wrappedParagraph(toWidth: width, cutsWords) }
      let margin = String(repeating: " ", count: indent)
      return rest.wrappedParagraph(toWidth: width - indent, cutsWords).map { margin + $0 }
    }
  }

  /// Wraps a help text, which the parser has made for lines of any length, to lines of at most `width` columns.
  ///
  /// The parser puts descriptions into a column of their own, and omits them if that has no room. Here each description
  /// comes below the name that it describes.
  func helpWrapped(toWidth width: Int) -> String {
    split(separator: "\n", omittingEmptySubsequences: false).flatMap { line -> [String] in
      if line.displayWidth <= width { return [String(line)] }
      let indent = Swift.min(line.prefix { $0 == " " }.count, width < 30 ? 2 : 4)
      func lines(_ text: some StringProtocol, _ indent: Int) -> [String] {
        String(text).trimmingCharacters(in: .whitespaces).wrapped(toWidth: width - indent, cuttingWords: false)
          .map { String(repeating: " ", count: indent) + $0 }
      }
      guard let column = line.startOfDescription else { return lines(line, indent) }
      return lines(line[..<column], indent) + lines(line[column...], 2 * indent)
    }.joined(separator: "\n")
  }

  /// The column in which the parser puts descriptions.
  fileprivate static let descriptionColumn = 26
}

extension Substring {
  /// The index at which the description of a command or an option begins; `nil` for other lines.
  fileprivate var startOfDescription: Index? {
    guard let start = index(startIndex, offsetBy: String.descriptionColumn, limitedBy: endIndex), start < endIndex,
      self[start] != " ", self[..<start].hasSuffix("  "), !self[..<start].allSatisfy({ $0 == " " })
    else { return nil }
    return start
  }

  fileprivate func wrappedParagraph(toWidth width: Int, _ cutsWords: Bool) -> [String] {
    var lines: [String] = []
    var (line, lineWidth) = ("", 0)
    for word in unbrokenWords(within: width) {
      let wordWidth = word.displayWidth
      let joint = line.isEmpty ? 0 : 1
      if lineWidth + joint + wordWidth <= width {
        line += (joint == 1 ? " " : "") + word
        lineWidth += joint + wordWidth
        continue
      }
      if !line.isEmpty { lines.append(line) }
      var pieces = cutsWords ? word.cut(toWidth: width) : [String(word)]
      line = pieces.removeLast()
      lineWidth = line.displayWidth
      lines += pieces
    }
    return lines + [line]
  }

  /// The words between blanks, where a place such as `(line 23)` is one word if it fits a line.
  private func unbrokenWords(within width: Int) -> [Substring] {
    var words = split(separator: " ", omittingEmptySubsequences: false)
    for start in words.indices.reversed() where words[start] == "(line" || words[start] == "(column" {
      guard let end = words[start...].prefix(4).firstIndex(where: { $0.contains(")") }) else { continue }
      let place = words[end].base[words[start].startIndex..<words[end].endIndex]
      if place.displayWidth <= width { words.replaceSubrange(start...end, with: [place]) }
    }
    return words
  }

  /// The text in pieces of at most `width` columns; at least one piece.
  private func cut(toWidth width: Int) -> [String] {
    var pieces = [""]
    var used = 0
    for character in self {
      let characterWidth = character.displayWidth
      if used + characterWidth > width {
        pieces.append("")
        used = 0
      }
      pieces[pieces.count - 1].append(character)
      used += characterWidth
    }
    return pieces
  }
}

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
  /// Whether the scalar has no column of its own: combining marks, joiners, and the vowels and finals of Hangul
  /// syllables.
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

extension [String] {
  /// The texts as lines of a column, cut to at most `width` columns and filled up to the widest one.
  func column(ofWidthAtMost width: Int) -> [String] {
    let cut = map { $0.truncated(toWidth: width) }
    let widest = cut.map(\.displayWidth).max() ?? 0
    return cut.map { $0.padded(toWidth: widest) }
  }

  /// Numbers as lines of a column, with blanks before the shorter ones.
  var numberColumn: [String] {
    let widest = map(\.count).max() ?? 0
    return map { String(repeating: " ", count: widest - $0.count) + $0 }
  }
}
