/// Colours text, or leaves it plain.
///
/// Colour is never the only sign: glyphs and words say the same.
struct Painter {
  enum Role {
    case heading, handle, detail, active, done, overdue, match
  }

  let isEnabled: Bool
  private let depth: ColorDepth

  /// - Parameters:
  ///   - isRefused: Whether `--no-color` is given, or the output is for programs.
  ///   - setting: The setting `color`; `nil` if there is none.
  ///   - isTerminal: Whether the output is a terminal.
  ///   - environment: The variables, which win over the setting.
  init(isRefused: Bool, setting: String?, isTerminal: Bool, environment: EnvironmentVariables) {
    isEnabled = !isRefused && Self.isWanted(setting: setting, isTerminal: isTerminal, environment)
    depth = isEnabled ? ColorDepth(environment: environment, isForced: setting == "always") : .none
  }

  /// Whether colour is wanted: `FORCE_COLOR` decides, else `NO_COLOR` or a dumb terminal, else the setting, else whether
  /// the output is a terminal.
  static func isWanted(setting: String?, isTerminal: Bool, _ environment: EnvironmentVariables) -> Bool {
    let value = { (name: String) in (try? environment.value(of: name)) ?? "" }
    if !value("FORCE_COLOR").isEmpty { return value("FORCE_COLOR") != "0" }
    if !value("NO_COLOR").isEmpty || value("TERM") == "dumb" { return false }
    return setting == "always" || setting != "never" && isTerminal
  }

  func paint(_ text: String, _ role: Role) -> String {
    switch role {
    case .heading: styled(text, "1")
    case .handle, .detail: styled(text, "2")
    case .active: depth == .none ? text : styled(text, "33")
    case .done: depth == .none ? text : styled(text, "32")
    case .overdue: styled(text, depth == .none ? "1" : "31")
    case .match: styled(text, "1;4")
    }
  }

  /// The text in a list's own colour, or the nearest that the terminal has.
  func paint(_ text: String, colorHex: String) -> String {
    let color = TerminalColor(hex: colorHex)
    return switch depth {
    case .none: text
    case .named: styled(text, "\(color.namedCode)")
    case .indexed: styled(text, "38;5;\(color.index)")
    case .full: styled(text, "38;2;\(color.red);\(color.green);\(color.blue)")
    }
  }

  /// Text with attributes, which end after it (ECMA-48, section 8.3.117, SGR).
  private func styled(_ text: String, _ attributes: String) -> String {
    isEnabled && !text.isEmpty ? "\u{1B}[\(attributes)m\(text)\u{1B}[0m" : text
  }
}

/// A colour as terminals of different depths name it.
struct TerminalColor {
  let red: Int, green: Int, blue: Int

  /// Reads six hexadecimal digits; anything else is black.
  init(hex: String) {
    let rgb = Int(hex, radix: 16) ?? 0
    (red, green, blue) = (rgb >> 16 & 0xFF, rgb >> 8 & 0xFF, rgb & 0xFF)
  }

  /// The attribute of the nearest named colour: of red, green and blue it has those that are above their middle here.
  var namedCode: Int {
    let parts = [red, green, blue]
    let middle = ((parts.min() ?? 0) + (parts.max() ?? 0) + 1) / 2
    let code = parts.enumerated().reduce(30) { $0 + ($1.element >= max(middle, 1) ? 1 << $1.offset : 0) }
    // Grey becomes the default, as black and white may be the colour of the background.
    return code == 30 || code == 37 ? 39 : code
  }

  /// The number of the nearest colour in xterm's palette of 256: a cube of 6×6×6 from 16 on, 24 greys from 232 on.
  var index: Int {
    let levels = [0, 95, 135, 175, 215, 255]
    let nearest = [red, green, blue].map { part in
      levels.indices.min { abs(levels[$0] - part) < abs(levels[$1] - part) } ?? 0
    }
    let gray = min(max((red + green + blue) / 3 - 3, 0) / 10, 23)
    let level = 8 + 10 * gray
    let inCube = (levels[nearest[0]], levels[nearest[1]], levels[nearest[2]])
    let isGrayNearer = distance(to: (level, level, level)) < distance(to: inCube)
    return isGrayNearer ? 232 + gray : 16 + 36 * nearest[0] + 6 * nearest[1] + nearest[2]
  }

  private func distance(to other: (red: Int, green: Int, blue: Int)) -> Int {
    let (red, green, blue) = (red - other.red, green - other.green, blue - other.blue)
    return red * red + green * green + blue * blue
  }
}

/// How many colours a terminal has.
enum ColorDepth: Comparable {
  /// Bold, dim and underlined, no colours.
  case none
  /// The eight of ECMA-48.
  case named
  /// The 256 of xterm's palette.
  case indexed
  /// 24 bits.
  case full

  /// The depth that `COLORTERM` and `TERM` name; `FORCE_COLOR` as 2 or 3 asks for more, and forced colour is never none.
  init(environment: EnvironmentVariables, isForced: Bool) {
    let value = { (name: String) in ((try? environment.nonEmptyValue(of: name)) ?? "").lowercased() }
    let (forced, color, terminal) = (value("FORCE_COLOR"), value("COLORTERM"), value("TERM"))
    if forced == "3" || ["truecolor", "24bit"].contains(color) || terminal.hasSuffix("-direct") {
      self = .full
    } else if forced == "2" || terminal.contains("256color") {
      self = .indexed
    } else if forced.isEmpty, !isForced, Self.isColorless(terminal) {
      self = .none
    } else {
      self = .named
    }
  }

  private static func isColorless(_ terminal: String) -> Bool {
    terminal.isEmpty || terminal == "unknown" || terminal.hasSuffix("-mono")
      || ["vt1", "vt2", "vt3", "vt4", "vt5", "dumb"].contains(where: terminal.hasPrefix)
  }
}

/// A text for display in which some parts matched a search.
struct MarkedText {
  private var pieces: [(text: String, isMatch: Bool)] = []

  /// Divides a text at ranges in ascending order, extended to whole characters, and escapes characters that a terminal
  /// must not get.
  ///
  /// The text before `start` is left out.
  init(_ text: String, matches: [Range<String.Index>], from start: String.Index? = nil) {
    var end = start ?? text.startIndex
    for range in matches {
      let lower = text.index(atCharacterOf: max(range.lowerBound, end))
      let upper = text.index(behindCharacterBefore: range.upperBound)
      guard lower >= end, lower < upper else { continue }
      append(text[end..<lower], isMatch: false)
      append(text[lower..<upper], isMatch: true)
      end = upper
    }
    append(text[end...], isMatch: false)
  }

  private mutating func append(_ text: Substring, isMatch: Bool) {
    if !text.isEmpty { pieces.append((text.escapedForDisplay(), isMatch)) }
  }

  /// The text without its marks.
  var plain: String { pieces.map(\.text).joined() }

  /// The text in at most `width` columns, with an ellipsis if something was cut off.
  func truncated(toWidth width: Int) -> MarkedText {
    guard plain.displayWidth > width else { return self }
    var rest = max(width - 1, 0)
    var result = self
    result.pieces = []
    for piece in pieces {
      let isWhole = piece.text.displayWidth <= rest
      let shown = isWhole ? piece.text : String(piece.text.truncated(toWidth: rest + 1).dropLast())
      result.pieces.append((shown, piece.isMatch))
      rest -= shown.displayWidth
      guard shown == piece.text else { break }
    }
    result.pieces.append(("…", false))
    return result
  }

  /// The text broken into lines of at most `width` columns; at least one.
  func wrapped(toWidth width: Int) -> [MarkedText] {
    guard plain.displayWidth > width else { return [self] }
    let characters = pieces.flatMap { piece in piece.text.map { (character: $0, isMatch: piece.isMatch) } }
    var start = 0
    return plain.wrapped(toWidth: width).map { line in
      let end = start + line.count
      var marked = MarkedText("", matches: [])
      for (character, isMatch) in characters[start..<end] { marked.append(character, isMatch) }
      // The blank at which the line was broken, unless that was inside a word.
      start = end < characters.count && characters[end].character == " " ? end + 1 : end
      return marked
    }
  }

  private mutating func append(_ character: Character, _ isMatch: Bool) {
    if let last = pieces.last, last.isMatch == isMatch {
      pieces[pieces.count - 1].text.append(character)
    } else {
      pieces.append((String(character), isMatch))
    }
  }

  /// The text with its matches painted, and the rest in another role if there is one.
  func painted(by painter: Painter, rest role: Painter.Role? = nil) -> String {
    pieces.map { piece in
      if piece.isMatch { return painter.paint(piece.text, .match) }
      return role.map { painter.paint(piece.text, $0) } ?? piece.text
    }.joined()
  }
}

extension String {
  /// The beginning of the character in which an index lies.
  fileprivate func index(atCharacterOf index: Index) -> Index {
    index < endIndex ? rangeOfCharacter(at: index).lowerBound : endIndex
  }

  /// The end of the character that holds the text before an index.
  fileprivate func index(behindCharacterBefore index: Index) -> Index {
    guard index > startIndex else { return startIndex }
    return rangeOfCharacter(at: unicodeScalars.index(before: index)).upperBound
  }

  private func rangeOfCharacter(at index: Index) -> Range<Index> {
    // From the scalar back to the first boundary; characters are short.
    var start = index
    while start > startIndex, String.Index(start, within: self) == nil { start = unicodeScalars.index(before: start) }
    return start..<self.index(after: start)
  }
}
