import ArgumentParser
import Foundation
import Tally

extension StringProtocol {
  /// The text with everything that could drive the terminal, forge a line or turn the reading direction shown as
  /// an escape such as `\n` or `\u{1B}`.
  ///
  /// Titles come from imports, pipes and other people, who need not be friendly. Marks that scripts need are kept:
  /// joiners, combining marks and the plain direction marks, which affect only their neighbours. The store keeps the
  /// text itself unchanged.
  ///
  /// With `escapingBackslash` a backslash is doubled, so that the text can be read back exactly.
  func escapedForDisplay(escapingBackslash: Bool = false) -> String {
    let needsNothing = utf8.allSatisfy { byte in
      byte >= 0x20 && byte < 0x7F && (byte != UInt8(ascii: "\\") || !escapingBackslash)
    }
    if needsNothing { return String(self) }
    var result = ""
    result.reserveCapacity(utf8.count)
    for character in self {
      let isFlag = character.unicodeScalars.first == "\u{1F3F4}"
      var markCount = 0
      for scalar in character.unicodeScalars {
        if scalar.properties.generalCategory == .nonspacingMark { markCount += 1 }
        switch scalar {
        case _ where markCount > Self.markLimit: result += scalar.escapeSequence
        case "\\" where escapingBackslash: result += "\\\\"
        case "\n": result += "\\n"
        case "\r": result += "\\r"
        case "\t": result += "\\t"
        // Tags spell the region in flags such as Wales's; anywhere else they are hidden text.
        case "\u{E0020}"..."\u{E007F}" where isFlag: result.unicodeScalars.append(scalar)
        case _ where scalar.drivesOrHides: result += scalar.escapeSequence
        default: result.unicodeScalars.append(scalar)
        }
      }
    }
    return result
  }

  /// More marks on one letter than any script uses; a pile of them would cover the lines above and below.
  private static var markLimit: Int { 10 }
}

extension Unicode.Scalar {
  /// Controls the terminal, breaks the line, overrides the reading direction, or is invisible.
  var drivesOrHides: Bool {
    switch value {
    case 0x00...0x1F, 0x7F...0x9F: true  // C0, DEL, C1: a terminal takes U+009B for ESC [.
    case 0x2028, 0x2029: true  // line and paragraph separator
    case 0x202A...0x202E, 0x2066...0x2069: true  // embeddings, overrides and isolates
    case 0x200B, 0x2060...0x2064, 0x206A...0x206F, 0xFEFF: true  // invisible, and no script needs them
    case 0xFFF9...0xFFFB, 0xE0000...0xE007F: true  // annotations, tags
    default: false
    }
  }

  /// The scalar as Swift writes it in a literal.
  var escapeSequence: String {
    "\\u{" + String(value, radix: 16, uppercase: true) + "}"
  }
}

extension String {
  /// The text as one word of a shell's command line, for commands offered to be typed.
  ///
  /// Characters that a terminal cannot show are written in the `$'…'` form of bash, zsh, ksh and POSIX 2024.
  var shellQuoted: String {
    if !isEmpty, utf8.allSatisfy(Self.shellSafe.contains) { return self }
    guard unicodeScalars.contains(where: \.drivesOrHides) else {
      return "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
    return "$'" + unicodeScalars.map(\.ansiQuoted).joined() + "'"
  }

  private static let shellSafe = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:+,@%".utf8)
}

extension Unicode.Scalar {
  fileprivate var ansiQuoted: String {
    switch self {
    case "'": "\\'"
    case "\\": "\\\\"
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    case _ where drivesOrHides:
      String(self).utf8.map { "\\x" + ($0 < 0x10 ? "0" : "") + String($0, radix: 16) }.joined()
    default: String(self)
    }
  }
}

extension String {
  /// The text in quotation marks, escaped and shortened for a message.
  var quotedForMessage: String {
    "“\(escapedForDisplay().truncated(toWidth: 60))”"
  }
}

extension UUID {
  /// The id as documents and handles write it, in lower case.
  var text: String { uuidString.lowercased() }

  /// The end of the id, which represents a list whose name is gone.
  var shownEnd: Substring { text.suffix(Self.shownEndLength) }

  /// Its length.
  static let shownEndLength = 4
}

extension String {
  /// The words of a command line as a shell splits it, without expanding anything; `nil` with an open quotation mark.
  var shellWords: [String]? {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var isEscaped = false
    for character in self {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
      } else if let open = quote {
        if character == open { quote = nil } else { word = (word ?? "") + String(character) }
      } else if character == "'" || character == "\"" {
        (quote, word) = (character, word ?? "")
      } else if character.isWhitespace {
        if let done = word { words.append(done) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    if let word { words.append(word) }
    return quote == nil && !isEscaped ? words : nil
  }
}

extension String {
  /// A colour as the library takes it; people also write `#FF9500`.
  var withoutNumberSign: String { hasPrefix("#") ? String(dropFirst()) : self }
}
