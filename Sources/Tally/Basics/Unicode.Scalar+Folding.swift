import Foundation

extension Unicode.Scalar {
  /// The folding of one scalar: what ``TextFolder`` says.
  var folded: [Unicode.Scalar] {
    // Accents go first: the iota under a Greek letter has an uppercase.
    decomposed.filter { !$0.isFoldedAway }.flatMap(\.caseFolded).flatMap(\.decomposed).filter { !$0.isFoldedAway }
      .flatMap { Self.plainLetters[$0] ?? [$0] }
  }

  /// Whether a scalar of the large blocks of Chinese, Japanese and Korean is folded to itself, which needs no look-up.
  var foldsToItself: Bool {
    switch value {
    case 0x3041...0x3096, 0x30A1...0x30FA, 0x4E00...0x9FFF, 0xAC00...0xD7A3: true
    default: false
    }
  }

  /// Whether a scalar of a folded text is composed with the one before it, or has a place among the marks there.
  var attaches: Bool { joinsPredecessor || properties.canonicalCombiningClass != .notReordered }

  /// Whether a scalar voices kana, or is not the first part of a Hangul syllable.
  var joinsPredecessor: Bool {
    switch value {
    case 0x3099...0x309A, 0x1161...0x1175, 0x11A8...0x11C2: true
    default: false
    }
  }

  /// The compatibility decomposition, except of what folded texts have composed.
  private var decomposed: [Unicode.Scalar] {
    foldsToItself ? [self] : Array(String(self).decomposedStringWithCompatibilityMapping.unicodeScalars)
  }

  /// Full case folding (Unicode 5.18), by the mappings that the standard library has.
  ///
  /// To lowercase first, for ẞ; the way over uppercase then unites ς with σ and ß with ss. It differs from Unicode's
  /// `CaseFolding.txt` in Cherokee, which that folds to uppercase, and in ı, which becomes i here.
  private var caseFolded: [Unicode.Scalar] {
    properties.lowercaseMapping.unicodeScalars.flatMap { lowercase in
      lowercase.properties.uppercaseMapping.unicodeScalars.flatMap {
        Array($0.properties.lowercaseMapping.unicodeScalars)
      }
    }
  }

  /// Latin letters with a stroke, and joined ones: accents to their readers, but Unicode does not decompose them.
  private static let plainLetters: [Unicode.Scalar: [Unicode.Scalar]] = [
    "æ": ["a", "e"], "œ": ["o", "e"], "ø": ["o"], "ł": ["l"], "đ": ["d"], "ð": ["d"], "ħ": ["h"], "ŧ": ["t"],
    "þ": ["t", "h"], "ŋ": ["n"],
  ]

  /// Whether a scalar is dropped: accents of Latin, Greek and Cyrillic letters, the points of Hebrew and the vowel
  /// marks of Arabic, which most texts leave out, and what cannot be seen.
  private var isFoldedAway: Bool {
    switch value {
    case 0x0300...0x036F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
    case 0x0483...0x0489, 0x2DE0...0x2DFF, 0xA66F...0xA672, 0xA674...0xA67D, 0xA69E...0xA69F: true
    case 0x0591...0x05BD, 0x05BF, 0x05C1...0x05C2, 0x05C4...0x05C5, 0x05C7: true
    case 0x0610...0x061A, 0x0640, 0x064B...0x065F, 0x0670, 0x06D6...0x06DC, 0x06DF...0x06E8, 0x06EA...0x06ED: true
    case 0x08CA...0x08E1, 0x08E3...0x08FF: true
    // It separates words of scripts without spaces.
    case 0x200B: false
    default: properties.isDefaultIgnorableCodePoint
    }
  }

  /// The scalar in UTF-8.
  var utf8: UTF8.EncodedScalar {
    // Every scalar has an encoding; the alternative is never taken.
    UTF8.encode(self) ?? UTF8.encodedReplacementCharacter
  }
}
