import Foundation

/// Folds texts for comparison: case, accents and width do not matter.
///
/// ```swift
/// var folder = TextFolder()
/// folder.fold("Ｃａｆé STRASSE straße")  // "cafe strasse strasse"
/// ```
///
/// Each scalar is folded by itself: compatibility decomposition (NFKD), then full case folding, without the marks that
/// `isFoldedAway` names. Marks that distinguish words stay: the voicing of kana, the vowel signs of Indic scripts, the
/// tone marks of Thai. Kana and Hangul are composed again. Folding a folded text changes nothing.
///
/// A folder caches the scalars it has seen, because each question to Foundation takes microseconds. Use one
/// folder for many texts.
package struct TextFolder: Sendable {
  /// The foldings seen so far of the scalars below `commonCount`, indexed by scalar; empty until the first one.
  private var common: [ScalarFold] = []
  /// The foldings seen so far of the scalars from `commonCount` on.
  private var others: [Unicode.Scalar: ScalarFold] = [:]
  /// The foldings that are not exactly one scalar.
  private var several: [Unicode.Scalar: [Unicode.Scalar]] = [:]
  /// A buffer for the folding of one text, reused between calls.
  private var buffer: [UInt8] = []

  /// The number of scalars before the ideographs.
  private static let commonCount = 0x3100

  /// Creates a folder with an empty cache.
  package init() {}

  /// The folding of a text.
  package mutating func fold(_ text: String) -> String {
    var text = text
    var folded: [UInt8] = []
    text.withUTF8 { unsafe fold($0.span.bytes, into: &folded) }
    return String(decoding: folded, as: UTF8.self)
  }

  /// Calls `body` with the folding of a text, in UTF-8.
  mutating func withFolded<Result>(_ text: RawSpan, body: ([UInt8]) -> Result) -> Result {
    // Moved out while it changes, so that the array is uniquely referenced and not copied.
    var folded: [UInt8] = []
    swap(&folded, &buffer)
    folded.removeAll(keepingCapacity: true)
    fold(text, into: &folded)
    defer { swap(&folded, &buffer) }
    return body(folded)
  }

  /// Appends the folding of a text, in UTF-8, to `folded`.
  package mutating func fold(_ text: RawSpan, into folded: inout [UInt8]) {
    if text.isASCII { return folded.appendFoldedASCII(text) }
    let start = folded.count
    text.withUTF8 { text in
      if foldAlone(text, into: &folded) { return }
      folded.removeSubrange(start...)
      for scalar in foldedScalars(of: text) { folded.append(scalar.value) }
    }
  }

  /// Appends the folding of a text, or returns false at a scalar that attaches to the one before it; see
  /// ``foldedScalars(of:)``.
  private mutating func foldAlone(_ text: UTF8Span, into folded: inout [UInt8]) -> Bool {
    let bytes = text.span
    var offset = 0
    while offset < bytes.count {
      var end = offset
      while end < bytes.count, bytes[end].isASCII { end &+= 1 }
      if end > offset {
        unsafe folded.appendFoldedASCII(bytes.extracting(offset..<end).bytes)
        offset = end
        continue
      }
      let scalar = bytes.nextScalar(at: &offset)
      let fold = fold(of: scalar)
      guard !fold.attaches else { return false }
      if let single = fold.single {
        folded.append(single)
      } else {
        for scalar in several[scalar] ?? [] { folded.append(scalar) }
      }
    }
    return true
  }

  /// Whether folding a text can produce one of these letters, or bring two of them together.
  ///
  /// If not, the folded text contains a word of these letters exactly when the text itself does.
  mutating func mayForm(_ letters: ASCIILetters, from text: RawSpan) -> Bool {
    var offset = 0
    while offset < text.byteCount {
      // Every bit pattern is an integer, and the offset has been checked.
      if offset &+ 8 <= text.byteCount,
        unsafe text.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self).isASCII
      {
        offset &+= 8
        continue
      }
      // The offset has been checked; a byte has no alignment.
      if unsafe text.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self).isASCII {
        offset &+= 1
        continue
      }
      guard let scalar = text.scalar(at: &offset) else { return true }
      let fold = fold(of: scalar)
      if let single = fold.single {
        if letters.contains(single) { return true }
      } else if several[scalar].map({ $0.isEmpty || $0.contains(where: letters.contains) }) ?? true {
        return true
      }
    }
    return false
  }

  /// Calls `body` with each scalar of a scalar's folding.
  mutating func forEachScalar(of scalar: Unicode.Scalar, _ body: (Unicode.Scalar) -> Void) {
    if let single = fold(of: scalar).single { return body(single) }
    several[scalar]?.forEach(body)
  }

  /// The folding of a scalar, from the cache or computed and added to it.
  private mutating func fold(of scalar: Unicode.Scalar) -> ScalarFold {
    if scalar.foldsToItself { return ScalarFold(to: scalar) }
    if common.isEmpty { common = Array(repeating: .unknown, count: Self.commonCount) }
    let index = Int(scalar.value)
    if index < common.count, common[index] != .unknown { return common[index] }
    if index >= common.count, let known = others[scalar] { return known }
    let scalars = scalar.folded
    let fold = ScalarFold(to: scalars)
    if fold.single == nil { several[scalar] = scalars }
    if index < common.count { common[index] = fold } else { others[scalar] = fold }
    return fold
  }
}

/// The folding of one scalar, packed into four bytes.
private struct ScalarFold: Equatable {
  private let bits: UInt32
  private static let several: UInt32 = 1 << 31
  private static let attaches: UInt32 = 1 << 30

  static let unknown = ScalarFold(bits: 0)

  private init(bits: UInt32) { self.bits = bits }

  init(to scalar: Unicode.Scalar) { bits = scalar.value }

  init(to scalars: [Unicode.Scalar]) {
    let isSingle = scalars.count == 1 && scalars[0] != "\0"
    let value = isSingle ? scalars[0].value : Self.several
    bits = value | (scalars.contains { $0.attaches } ? Self.attaches : 0)
  }

  /// The single scalar of the folding; `nil` if the folding has several scalars or none.
  var single: Unicode.Scalar? { bits & Self.several == 0 ? Unicode.Scalar(bits & ~Self.attaches) : nil }

  /// Whether the folding has to be composed with, or sorted among, the scalars before it.
  var attaches: Bool { bits & Self.attaches != 0 }
}

/// A text folded by ``TextFolder``, in UTF-8, that maps its ranges back to the original text.
///
/// ```swift
/// var folder = TextFolder()
/// let folded = FoldedText("Ｃａｆé", with: &folder)
/// String(decoding: folded.utf8, as: UTF8.self)  // "cafe"
/// folded.originalRange(of: 3..<4)               // 9..<11, the bytes of "é"
/// ```
package struct FoldedText: Sendable {
  /// The folded text.
  package private(set) var utf8: [UInt8] = []
  /// For each byte of ``utf8``, the range of bytes in the original that it came from; empty if the offsets are
  /// the same.
  private var sources: [Range<Int>] = []

  /// Folds a text in one pass.
  package init(_ text: String, with folder: inout TextFolder) {
    var text = text
    text.makeContiguousUTF8()
    let bytes = unsafe text.utf8.span.bytes
    guard !bytes.isASCII else {
      folder.fold(bytes, into: &utf8)
      return
    }
    for scalar in folder.foldedScalars(of: text.utf8Span) {
      for byte in scalar.value.utf8 {
        utf8.append(byte)
        sources.append(scalar.source)
      }
    }
  }

  /// The range of the original's UTF-8 that a range of ``utf8`` came from, extended to whole scalars with their
  /// accents.
  package func originalRange(of range: Range<Int>) -> Range<Int> {
    guard !sources.isEmpty, !range.isEmpty else { return range }
    let source = sources[range]
    let start = source.map(\.lowerBound).min() ?? range.lowerBound
    return start..<(source.map(\.upperBound).max() ?? start)
  }
}

/// One scalar of a folded text, and the bytes of the original that it came from.
struct FoldedScalar {
  var value: Unicode.Scalar
  /// The offsets of its UTF-8 in the original.
  var source: Range<Int>
}

extension TextFolder {
  /// Folds a text whose scalars may attach to each other, and records the source of each folded scalar.
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
      // A dropped accent belongs to its letter, so that a match includes it.
      if isDropped { folded.extendLast(to: end) }
      start = end
    }
    return folded
  }
}

extension [FoldedScalar] {
  /// Appends a scalar in canonical order, and composes it where folded texts are composed.
  ///
  /// Voiced kana and Hangul are composed, so that a search for か does not find が. Other scripts stay decomposed.
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
    // Of two marks of the same class, only the first composes with the letter.
    let isBlocked = isMark && index > 0 && self[index - 1].value.properties.canonicalCombiningClass == order
    if next.value.joinsPredecessor, !isBlocked { compose(at: index, isMark: isMark) }
  }

  /// Composes a scalar with the letter before it if Unicode has a scalar for both; other marks may stand
  /// between a mark and its letter.
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
  /// The composition of this scalar and the next; `nil` if there is none.
  ///
  /// Foundation does not compose a two-part Hangul syllable with its third part, so this follows Unicode 3.12.
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

/// A text to search for in other texts; case, accents and width do not matter.
///
/// ```swift
/// var folder = TextFolder()
/// FoldedPattern("tax form", with: &folder).isFound(in: "Tax forms", with: &folder)
/// ```
package struct FoldedPattern: Sendable, Hashable {
  private let bytes: [UInt8]
  /// The letters of the pattern if it is ASCII; otherwise `nil`.
  private let letters: ASCIILetters?

  /// Folds the text to search for; an empty one is found everywhere.
  package init(_ text: String, with folder: inout TextFolder) {
    bytes = FoldedText(text, with: &folder).utf8
    letters = ASCIILetters(bytes)
  }

  /// Whether a text contains the pattern anywhere.
  package func isFound(in text: String, with folder: inout TextFolder) -> Bool {
    var text = text
    text.makeContiguousUTF8()
    return unsafe isFound(in: text.utf8.span.bytes, with: &folder)
  }

  /// Whether a text, as UTF-8, contains the pattern anywhere.
  ///
  /// The text is compared in place where that is enough. If folding could produce a letter of the pattern, or
  /// remove what stands between two of them, the text is first folded into `folder`'s buffer.
  package func isFound(in text: RawSpan, with folder: inout TextFolder) -> Bool {
    if let letters {
      // Folding keeps ASCII letters in place, so a match before folding is a match after it.
      switch bytes.span.findIgnoringCase(in: text) {
      case .found: return true
      case .isNotInASCII: return false
      case .isNotInBytes: if !folder.mayForm(letters, from: text) { return false }
      }
    } else if text.isASCII {
      return false
    }
    return folder.withFolded(text) { unsafe bytes.span.isFoundIgnoringCase(in: $0.span.bytes) }
  }
}

/// A set of ASCII scalars.
struct ASCIILetters: Hashable, Sendable {
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  /// `nil` unless all bytes are ASCII.
  init?(_ bytes: [UInt8]) {
    for byte in bytes {
      guard byte.isASCII else { return nil }
      if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
    }
  }

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    let value = UInt64(scalar.value)
    return value < 64 ? low >> value & 1 == 1 : value < 128 && high >> (value - 64) & 1 == 1
  }
}

/// The result of searching a text for some bytes.
enum BytesSearch {
  case found
  /// Every byte of the text is ASCII.
  case isNotInASCII
  case isNotInBytes
}

extension Span<UInt8> {
  /// Searches a text for these folded bytes; ASCII letters of the text may be in either case.
  ///
  /// Compares the first and the last byte at eight offsets at once. With the lowercase bit set, some different bytes
  /// look equal, so each candidate is then compared in full. The same pass finds out whether the text is ASCII.
  func findIgnoringCase(in text: RawSpan) -> BytesSearch {
    guard count > 0 else { return .found }
    let lastStart = text.byteCount - count
    // The loads below would miss bytes of a text shorter than this.
    guard lastStart >= 7, lastStart + 2 >= count else { return findIgnoringCase(inShort: text) }
    let first = UInt64(repeating: self[0] | 0x20), last = UInt64(repeating: self[count - 1] | 0x20)
    let bits = UInt64(repeating: 0x20)
    var start = 0
    var union: UInt64 = 0
    while true {
      // Both loads are within the text: `start` is at most seven before its last value. Any eight bytes are a
      // valid integer.
      let firsts = unsafe text.unsafeLoadUnaligned(fromUncheckedByteOffset: start, as: UInt64.self)
      let lasts = unsafe text.unsafeLoadUnaligned(fromUncheckedByteOffset: start + count - 1, as: UInt64.self)
      union |= firsts | lasts
      let differences = ((firsts | bits) ^ first) | ((lasts | bits) ^ last)
      if differences.hasZeroByte, (start...start + 7).contains(where: { isEqualIgnoringCase(to: text, at: $0) }) {
        return .found
      }
      if start == lastStart - 7 { return union.isASCII ? .isNotInASCII : .isNotInBytes }
      start = Swift.min(start + 8, lastStart - 7)
    }
  }

  /// Whether a text contains these folded bytes; ASCII letters of the text may be in either case.
  package func isFoundIgnoringCase(in text: RawSpan) -> Bool { findIgnoringCase(in: text) == .found }

  private func findIgnoringCase(inShort text: RawSpan) -> BytesSearch {
    var start = 0
    while start + count <= text.byteCount {
      if isEqualIgnoringCase(to: text, at: start) { return .found }
      start += 1
    }
    return text.isASCII ? .isNotInASCII : .isNotInBytes
  }

  /// Whether these folded bytes are at an offset of a text; the caller has checked that the text reaches that far.
  private func isEqualIgnoringCase(to text: RawSpan, at start: Int) -> Bool {
    for index in indices
    where unsafe text.unsafeLoad(fromUncheckedByteOffset: start + index, as: UInt8.self).foldedASCII != self[index] {
      return false
    }
    return true
  }
}

extension UInt64 {
  /// A byte repeated eight times.
  fileprivate init(repeating byte: UInt8) { self = UInt64(byte) &* 0x0101_0101_0101_0101 }

  /// Whether one of the bytes is zero (Warren, "Hacker's Delight", 6-1).
  fileprivate var hasZeroByte: Bool { (self &- 0x0101_0101_0101_0101) & ~self & 0x8080_8080_8080_8080 != 0 }

  /// Whether each of the bytes is ASCII.
  fileprivate var isASCII: Bool { self & 0x8080_8080_8080_8080 == 0 }
}

extension RawSpan {
  /// Calls `body` with the bytes as UTF-8; malformed bytes, which no Tally writes, are read as replacement characters.
  func withUTF8(_ body: (UTF8Span) -> Void) {
    // The buffer does not outlive the closure; any bytes may be read as bytes.
    unsafe withUnsafeBytes { buffer in
      let bytes = unsafe buffer.assumingMemoryBound(to: UInt8.self)
      if let text = unsafe try? UTF8Span(validating: bytes.span) { return body(text) }
      body(unsafe String(decoding: buffer, as: UTF8.self).utf8Span)
    }
  }

  /// Whether all bytes are ASCII.
  package var isASCII: Bool {
    var union: UInt64 = 0
    var offset = 0
    while offset &+ 8 <= byteCount {
      // Every bit pattern is an integer; the load checks its bounds.
      union |= unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
      offset &+= 8
    }
    while offset < byteCount {
      union |= UInt64(unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self))
      offset &+= 1
    }
    return union.isASCII
  }
}

extension RawSpan {
  /// Reads the scalar at an offset of UTF-8, which must not be ASCII, and moves the offset past it; `nil` for malformed
  /// bytes, which Tally never writes.
  @inline(__always)
  func scalar(at offset: inout Int) -> Unicode.Scalar? {
    let first = UInt32(load(bigEndianAt: offset, as: UInt8.self))
    let restCount = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3
    guard (0xC2..<0xF5).contains(first), offset + restCount < byteCount else { return nil }
    var value = first & (0x3F >> UInt32(restCount))
    for index in offset + 1...offset + restCount {
      let byte = load(bigEndianAt: index, as: UInt8.self)
      guard byte & 0xC0 == 0x80 else { return nil }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    offset += 1 + restCount
    return Unicode.Scalar(value)
  }
}

extension Span<UInt8> {
  /// Reads the scalar at an offset of well-formed UTF-8, which must not be ASCII, and moves the offset past it
  /// (RFC 3629, section 3).
  ///
  /// The iterator of `UTF8Span` makes two calls for each scalar; with it, folding took two thirds longer.
  @inline(__always)
  func nextScalar(at offset: inout Int) -> Unicode.Scalar {
    let first = UInt32(self[offset])
    let restCount = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3
    var value = first & (0x3F >> UInt32(restCount))
    for index in offset + 1..<offset + 1 + restCount { value = value << 6 | UInt32(self[index] & 0x3F) }
    offset += 1 + restCount
    // Well-formed UTF-8 encodes a scalar; the alternative is never taken.
    return Unicode.Scalar(value) ?? "\u{FFFD}"
  }
}

extension UInt8 {
  @inlinable package var isASCII: Bool { self < 0x80 }

  /// The lowercase form of an ASCII letter; any other byte unchanged.
  @inlinable package var foldedASCII: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

extension [UInt8] {
  /// Appends a scalar in UTF-8.
  @inline(__always)
  mutating func append(_ scalar: Unicode.Scalar) {
    if scalar.isASCII { append(UInt8(truncatingIfNeeded: scalar.value)) } else { append(contentsOf: scalar.utf8) }
  }

  /// Appends the folding of bytes that are all ASCII.
  mutating func appendFoldedASCII(_ text: RawSpan) {
    // The buffer does not outlive the closure.
    unsafe text.withUnsafeBytes { unsafe append(contentsOf: $0.lazy.map(\.foldedASCII)) }
  }
}

extension Unicode.Scalar {
  /// The folding of one scalar, as ``TextFolder`` defines it.
  var folded: [Unicode.Scalar] {
    // Accents are removed first: the iota below a Greek letter has an uppercase form of its own.
    decomposed.filter { !$0.isFoldedAway }.flatMap(\.caseFolded).flatMap(\.decomposed).filter { !$0.isFoldedAway }
      .flatMap { Self.plainLetters[$0] ?? [$0] }
  }

  /// Whether a scalar of the large blocks of Chinese, Japanese and Korean folds to itself, which saves the lookup.
  var foldsToItself: Bool {
    switch value {
    case 0x3041...0x3096, 0x30A1...0x30FA, 0x4E00...0x9FFF, 0xAC00...0xD7A3: true
    default: false
    }
  }

  /// Whether a scalar of a folded text is composed with the scalar before it, or sorted among the marks there.
  var attaches: Bool { joinsPredecessor || properties.canonicalCombiningClass != .notReordered }

  /// Whether a scalar is a voicing mark of kana, or a second or third part of a Hangul syllable.
  var joinsPredecessor: Bool {
    switch value {
    case 0x3099...0x309A, 0x1161...0x1175, 0x11A8...0x11C2: true
    default: false
    }
  }

  /// The compatibility decomposition, except for scalars that stay composed in folded texts.
  private var decomposed: [Unicode.Scalar] {
    foldsToItself ? [self] : Array(String(self).decomposedStringWithCompatibilityMapping.unicodeScalars)
  }

  /// Full case folding (Unicode 5.18), built from the case mappings of the standard library.
  ///
  /// Lowercases first, for ẞ. The detour through uppercase then unifies ς with σ, and ß with ss. The result
  /// differs from Unicode's `CaseFolding.txt` for Cherokee, which that file folds to uppercase, and for ı,
  /// which becomes i here.
  private var caseFolded: [Unicode.Scalar] {
    properties.lowercaseMapping.unicodeScalars.flatMap { lowercase in
      lowercase.properties.uppercaseMapping.unicodeScalars.flatMap {
        Array($0.properties.lowercaseMapping.unicodeScalars)
      }
    }
  }

  /// Latin letters with a stroke and ligatures, which readers see as accented letters but Unicode does not decompose.
  private static let plainLetters: [Unicode.Scalar: [Unicode.Scalar]] = [
    "æ": ["a", "e"], "œ": ["o", "e"], "ø": ["o"], "ł": ["l"], "đ": ["d"], "ð": ["d"], "ħ": ["h"], "ŧ": ["t"],
    "þ": ["t", "h"], "ŋ": ["n"],
  ]

  /// Whether a scalar is dropped: accents of Latin, Greek and Cyrillic letters, Hebrew points and Arabic vowel
  /// marks, which most texts leave out, and invisible characters.
  private var isFoldedAway: Bool {
    switch value {
    case 0x0300...0x036F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
    case 0x0483...0x0489, 0x2DE0...0x2DFF, 0xA66F...0xA672, 0xA674...0xA67D, 0xA69E...0xA69F: true
    case 0x0591...0x05BD, 0x05BF, 0x05C1...0x05C2, 0x05C4...0x05C5, 0x05C7: true
    case 0x0610...0x061A, 0x0640, 0x064B...0x065F, 0x0670, 0x06D6...0x06DC, 0x06DF...0x06E8, 0x06EA...0x06ED: true
    case 0x08CA...0x08E1, 0x08E3...0x08FF: true
    // The zero-width space separates words in scripts without spaces.
    case 0x200B: false
    default: properties.isDefaultIgnorableCodePoint
    }
  }

  /// The scalar in UTF-8.
  var utf8: UTF8.EncodedScalar {
    // Every scalar has an encoding, so the replacement is never used.
    UTF8.encode(self) ?? UTF8.encodedReplacementCharacter
  }
}
