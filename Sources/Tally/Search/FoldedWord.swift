// Words follow Unicode Standard Annex #29 with two differences, both for search. Apostrophes, full stops and low lines
// separate words, where the annex joins letters and digits around them: so `eau` finds l'eau and `example` finds
// example.com, while a query's own `don't` or `3.14` is looked for as its parts in a row. And what the annex leaves
// to dictionaries, scripts without spaces, is one word from separator to separator in which any part can be found.
// The standard library's word breaking is not public, and Foundation's depends on the locale and the system's version.

/// A word of a folded text: the range of its bytes.
struct FoldedWord: Equatable {
  var range: Range<Int>
  /// Whether it is text of a script without spaces, so that any part of it counts as a word.
  var isUnspaced: Bool
}

extension [UInt8] {
  /// Calls `body` with each word of a folded text, in order.
  func forEachWord(_ body: (FoldedWord) -> Void) {
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
  var words: [FoldedWord] {
    var words: [FoldedWord] = []
    forEachWord { words.append($0) }
    return words
  }

  /// The scalar at an offset of a folded text, which is well-formed UTF-8.
  @inline(__always)
  func foldedScalar(at offset: Int) -> Unicode.Scalar {
    let first = UInt32(self[offset])
    let value =
      switch first {
      case ..<0x80: first
      case ..<0xE0: (first & 0x1F) << 6 | continuation(offset + 1)
      case ..<0xF0: (first & 0x0F) << 12 | continuation(offset + 1) << 6 | continuation(offset + 2)
      default:
        (first & 0x07) << 18 | continuation(offset + 1) << 12 | continuation(offset + 2) << 6
          | continuation(offset + 3)
      }
    return Unicode.Scalar(value) ?? "\u{FFFD}"
  }

  @inline(__always)
  private func continuation(_ offset: Int) -> UInt32 { UInt32(self[offset] & 0x3F) }
}
