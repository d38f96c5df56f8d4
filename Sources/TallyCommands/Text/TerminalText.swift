import Foundation

/// What a terminal can show, by the locale and the kind of the terminal.
enum TerminalText {
  /// Whether texts for people must be ASCII: the locale names another encoding than UTF-8.
  ///
  /// Without a locale POSIX has ASCII; output that goes to no terminal then stays whole, as containers and services
  /// have no locale.
  static func isASCII(environment: EnvironmentVariables, onTerminal isTerminal: Bool) -> Bool {
    for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
      guard let locale = (try? environment.nonEmptyValue(of: name))?.lowercased() else { continue }
      return !locale.contains("utf-8") && !locale.contains("utf8")
    }
    return isTerminal
  }
}

extension String {
  /// The text in ASCII, in as many columns: letters without their accents, signs as near as ASCII has them, and question
  /// marks for the rest.
  var inASCII: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return self }
    var result = ""
    result.reserveCapacity(utf8.count)
    for character in self {
      if character.isASCII || character == "\r\n" {
        result.append(character)
      } else if let sign = Self.asciiSigns[character] {
        result += sign
      } else {
        let plain = String(character).decomposedStringWithCompatibilityMapping.unicodeScalars.filter(\.isASCII)
        let width = character.displayWidth
        result += plain.count == width ? String(String.UnicodeScalarView(plain)) : String(repeating: "?", count: width)
      }
    }
    return result
  }

  private static let asciiSigns: [Character: String] = [
    "◦": "-", "▸": ">", "✓": "x", "▪": "*", "…": "~", "—": "-", "–": "-", "·": "-", "→": ">", "←": "<", "“": "\"",
    "”": "\"", "‘": "'", "’": "'", "─": "-", "│": "|", "└": "`", "├": "|", "┬": "-", "┴": "-", "┼": "+",
    "▁": "_", "▂": ".", "▃": ":", "▄": "-", "▅": "=", "▆": "+", "▇": "*", "█": "#", "░": ".", "▒": ":", "▓": "+",
    "▏": ".", "▎": ".", "▍": ":", "▌": "-", "▋": "=", "▊": "+", "▉": "*", "■": "#", "▲": "^", "▼": "v", "×": "x",
    "┤": "|",
  ]
}
