/// The terms under which the index finds a text: its words, and of text without spaces every scalar with the next one.
///
/// The last scalar of such text is a term by itself, so that a single one is found as the beginning of a term, wherever
/// it stands.
enum IndexTerm {
  /// The longest term; of a longer word the beginning is the term.
  ///
  /// A key of liblmdb has at most 511 bytes.
  static let maximumByteCount = 60

  /// Calls `body` with the bytes of each term of a folded text; a term may come several times.
  static func forEach(in folded: [UInt8], _ body: (Range<Int>) -> Void) {
    folded.forEachWord { word in
      if word.isUnspaced {
        forEachPair(in: folded, word.range, body)
      } else {
        body(shortened(word.range, in: folded))
      }
    }
  }

  /// The terms that every text has in which a word of a query is found; the last may be the beginning of one.
  static func terms(of word: SearchTerm.Word) -> [[UInt8]] {
    let bytes = word.bytes
    guard word.isUnspaced else { return [Array(bytes[shortened(bytes.startIndex..<bytes.endIndex, in: bytes)])] }
    var pairs: [[UInt8]] = []
    forEachPair(in: bytes, bytes.startIndex..<bytes.endIndex) { pairs.append(Array(bytes[$0])) }
    // In a text the last scalar may go on to be a pair.
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
    // At the beginning of a scalar.
    while folded[end] & 0xC0 == 0x80 { end -= 1 }
    return word.lowerBound..<end
  }
}
