// Words follow Unicode Standard Annex #29, with two differences for search. First, apostrophes, full stops and
// underscores separate words, where the annex joins letters and digits around them. So `eau` finds l'eau and
// `example` finds example.com, while `don't` or `3.14` in a query is searched for as a sequence of its parts.
// Second, text in scripts without spaces, which the annex leaves to dictionaries, is one word from separator to
// separator, and any part of it can be found. The standard library's word breaking is not public, and
// Foundation's depends on the locale and the system's version.

/// A word of a folded text, as a range of its bytes.
package struct FoldedWord: Equatable {
  package var range: Range<Int>
  /// Whether the word is in a script without spaces, so that any part of it counts as a word.
  package var isUnspaced: Bool
}

extension [UInt8] {
  /// Calls `body` with each word of a folded text, in order.
  package func forEachWord(_ body: (FoldedWord) -> Void) {
    var start = 0
    var kind = WordKind.separator
    var offset = 0
    while offset < count {
      let scalar = foldedScalar(at: offset)
      let next = scalar.wordKind
      if next != kind, next != .mark {
        if kind != .separator { body(FoldedWord(range: start..<offset, isUnspaced: kind == .unspaced)) }
        start = offset
        kind = next
      }
      offset += UTF8.width(scalar)
    }
    if kind != .separator { body(FoldedWord(range: start..<offset, isUnspaced: kind == .unspaced)) }
  }

  /// The words of a folded text, in order.
  package var words: [FoldedWord] {
    var words: [FoldedWord] = []
    forEachWord { words.append($0) }
    return words
  }

  /// Decodes the scalar at an offset of a folded text, which is well-formed UTF-8.
  @inline(__always)
  package func foldedScalar(at offset: Int) -> Unicode.Scalar {
    let first = self[offset]
    if first.isASCII { return Unicode.Scalar(first) }
    var offset = offset
    return span.nextScalar(at: &offset)
  }

  /// Whether the bytes are exactly one scalar of a folded text.
  package var isSingleScalar: Bool { !isEmpty && UTF8.width(foldedScalar(at: 0)) == count }
}

/// The terms under which the index finds a text: its words, and each pair of adjacent scalars in scripts
/// without spaces.
///
/// The last scalar of such text is also a term, so that a single scalar is found as the prefix of a term
/// wherever it occurs.
package enum IndexTerm {
  /// The maximum size of a term in bytes; longer words are cut to it.
  ///
  /// liblmdb allows keys of at most 511 bytes.
  package static let maximumByteCount = 60

  /// Calls `body` with the bytes of each term of a folded text; terms may repeat.
  package static func forEach(in folded: [UInt8], _ body: (Range<Int>) -> Void) {
    folded.forEachWord { word in
      if word.isUnspaced {
        forEachPair(in: folded, word.range, body)
      } else {
        body(shortened(word.range, in: folded))
      }
    }
  }

  /// The terms that every text with a word has; the last one may be a prefix.
  package static func terms(of bytes: [UInt8], isUnspaced: Bool) -> [[UInt8]] {
    guard isUnspaced else { return [Array(bytes[shortened(bytes.startIndex..<bytes.endIndex, in: bytes)])] }
    var pairs: [[UInt8]] = []
    forEachPair(in: bytes, bytes.startIndex..<bytes.endIndex) { pairs.append(Array(bytes[$0])) }
    // In a text, the last scalar may be followed by another and form a pair with it.
    return pairs.count > 1 ? pairs.dropLast() : pairs
  }

  private static func forEachPair(in folded: [UInt8], _ word: Range<Int>, _ body: (Range<Int>) -> Void) {
    var start = word.lowerBound
    while start < word.upperBound {
      let second = start + UTF8.width(folded.foldedScalar(at: start))
      let end = second < word.upperBound ? second + UTF8.width(folded.foldedScalar(at: second)) : second
      body(start..<end)
      start = second
    }
  }

  private static func shortened(_ word: Range<Int>, in folded: [UInt8]) -> Range<Int> {
    guard word.count > maximumByteCount else { return word }
    var end = word.lowerBound + maximumByteCount
    // Moves the end to a scalar boundary.
    while folded[end] & 0xC0 == 0x80 { end -= 1 }
    return word.lowerBound..<end
  }
}

/// The role of a scalar in dividing a folded text into words.
package enum WordKind {
  /// A scalar that separates words.
  case separator
  /// A letter or digit of a script with spaces between words, as most have.
  case spaced
  /// An emoji, or a letter of a script without spaces, such as Chinese, Japanese and Thai; also of Korean,
  /// whose words are often written together.
  case unspaced
  /// A vowel sign or another mark, which belongs to the scalar before it.
  case mark
}

extension Unicode.Scalar {
  package var wordKind: WordKind {
    switch value {
    case 0x30...0x39, 0x61...0x7A: .spaced
    case 0x00...0x7F: .separator
    // The letters of the most common alphabets, checked before the lookup of properties.
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
    // An emoji stands for a word.
    case .otherSymbol: .unspaced
    // The modifiers of skin tone are emoji; other modifiers separate words.
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
