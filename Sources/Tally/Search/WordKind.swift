/// What a scalar of a folded text is to words.
enum WordKind {
  /// Separates words.
  case separator
  /// Belongs to a word between separators: letters and digits of most scripts.
  case spaced
  /// Belongs to a script without spaces, such as Chinese, Japanese, Thai, or is an emoji; Korean too, whose words are
  /// written together often.
  case unspaced
  /// Belongs to what comes before it: vowel signs and other marks.
  case mark
}

extension Unicode.Scalar {
  var wordKind: WordKind {
    switch value {
    case 0x30...0x39, 0x61...0x7A: .spaced
    case 0x00...0x7F: .separator
    // Letters of the commonest alphabets, before the look-up.
    case 0x03B1...0x03C9, 0x0430...0x045F, 0x05D0...0x05EA, 0x0620...0x063F, 0x0641...0x064A: .spaced
    case 0x3041...0x3096, 0x30A1...0x30FA, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3: .unspaced
    default: wordKindByCategory
    }
  }

  private var wordKindByCategory: WordKind {
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber:
      isOfUnspacedScript ? .unspaced : .spaced
    case .nonspacingMark, .spacingMark, .enclosingMark: isOfUnspacedScript ? .unspaced : .mark
    // Emoji, which are pictures of words.
    case .otherSymbol: .unspaced
    // Tones of skin.
    case .modifierSymbol: properties.isEmoji ? .unspaced : .separator
    default: .separator
    }
  }

  /// Whether the scalar is in a block of Thai, Lao, Burmese, Khmer, Hangul, kana or ideographs.
  private var isOfUnspacedScript: Bool {
    switch value {
    case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1100...0x11FF, 0x1780...0x17FF, 0x2E80...0x31FF, 0xA960...0xA97F: true
    case 0xAA60...0xAA7F, 0xD7B0...0xD7FF, 0xF900...0xFAFF, 0x1AFF0...0x1B16F, 0x20000...0x3FFFF: true
    default: false
    }
  }
}
