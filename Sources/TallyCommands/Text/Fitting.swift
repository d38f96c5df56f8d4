import Foundation

extension String {
  /// The text in at most `width` columns, with an ellipsis if something was cut off.
  ///
  /// The text must not contain line breaks. The cost depends on what is kept, not on what is cut off.
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
  /// The parser puts descriptions into a column of their own, and omits them if that has no room. Here each description comes
  /// below what it describes.
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
  /// Where the description of a command or an option begins; `nil` for other lines.
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
