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
  /// Line breaks in the text are kept. A word longer than a line is cut between characters.
  func wrapped(toWidth width: Int) -> [String] {
    split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).flatMap { paragraph in
      paragraph.wrappedParagraph(toWidth: Swift.max(2, width))
    }
  }
}

extension Substring {
  fileprivate func wrappedParagraph(toWidth width: Int) -> [String] {
    var lines: [String] = []
    var (line, lineWidth) = ("", 0)
    for word in split(separator: " ", omittingEmptySubsequences: false) {
      let wordWidth = word.displayWidth
      let joint = line.isEmpty ? 0 : 1
      if lineWidth + joint + wordWidth <= width {
        line += (joint == 1 ? " " : "") + word
        lineWidth += joint + wordWidth
        continue
      }
      if !line.isEmpty { lines.append(line) }
      var pieces = word.cut(toWidth: width)
      line = pieces.removeLast()
      lineWidth = line.displayWidth
      lines += pieces
    }
    return lines + [line]
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
