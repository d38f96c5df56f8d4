import Foundation

/// One scalar of a folded text, and the bytes of the original that it came from.
struct FoldedScalar {
  var value: Unicode.Scalar
  /// Offsets of UTF-8 in the original.
  var source: Range<Int>
}

extension TextFolder {
  /// Folds a text whose scalars may attach to each other, and says where each one came from.
  mutating func foldedScalars(of text: UTF8Span) -> [FoldedScalar] {
    var folded: [FoldedScalar] = []
    folded.reserveCapacity(text.count)
    var iterator = text.makeUnicodeScalarIterator()
    var start = 0
    while let scalar = iterator.next() {
      let end = iterator.currentCodeUnitOffset
      var isDropped = true
      forEachScalar(of: scalar) {
        folded.appendComposing(FoldedScalar(value: $0, source: start..<end))
        isDropped = false
      }
      // An accent that was dropped is marked with its letter.
      if isDropped { folded.extendLast(to: end) }
      start = end
    }
    return folded
  }
}

extension [FoldedScalar] {
  /// Appends a scalar in canonical order, composed as far as folded texts need it.
  ///
  /// Kana with their voicing and Hangul are composed, so that か is not found in が. Other scripts stay decomposed.
  fileprivate mutating func appendComposing(_ next: FoldedScalar) {
    append(next)
    guard next.value.value >= 0x300 else { return }
    let order = next.value.properties.canonicalCombiningClass
    var index = count - 1
    while order != .notReordered, index > 0, self[index - 1].value.properties.canonicalCombiningClass > order {
      swapAt(index, index - 1)
      index -= 1
    }
    let isMark = order != .notReordered
    // Of two marks of one class the first alone is the letter's.
    let isBlocked = isMark && index > 0 && self[index - 1].value.properties.canonicalCombiningClass == order
    if next.value.joinsPredecessor, !isBlocked { compose(at: index, isMark: isMark) }
  }

  /// Composes a scalar with the letter before it, if there is a scalar for both; a mark may have others before it.
  private mutating func compose(at index: Int, isMark: Bool) {
    var letter = index - 1
    while isMark, letter > 0, self[letter].value.properties.canonicalCombiningClass != .notReordered { letter -= 1 }
    guard letter >= 0, let composed = self[letter].value.composed(with: self[index].value) else { return }
    let source = self[letter].source
    self[letter].value = composed
    self[letter].source = source.lowerBound..<Swift.max(source.upperBound, self[index].source.upperBound)
    remove(at: index)
  }

  fileprivate mutating func extendLast(to end: Int) {
    guard !isEmpty else { return }
    self[count - 1].source = self[count - 1].source.lowerBound..<end
  }
}

extension Unicode.Scalar {
  /// The one scalar that stands for this one and the next.
  ///
  /// Foundation composes no Hangul syllable of two parts with the third, so that is done as Unicode 3.12 says.
  fileprivate func composed(with next: Unicode.Scalar) -> Unicode.Scalar? {
    switch (value, next.value) {
    case (0x1100...0x1112, 0x1161...0x1175):
      return Unicode.Scalar(0xAC00 + ((value - 0x1100) * 21 + next.value - 0x1161) * 28)
    case (0xAC00...0xD7A3, 0x11A8...0x11C2) where (value - 0xAC00) % 28 == 0:
      return Unicode.Scalar(value + next.value - 0x11A7)
    case (0x3041...0x30FF, 0x3099...0x309A):
      let composed = (String(self) + String(next)).precomposedStringWithCanonicalMapping.unicodeScalars
      return composed.count == 1 ? composed.first : nil
    default:
      return nil
    }
  }
}
