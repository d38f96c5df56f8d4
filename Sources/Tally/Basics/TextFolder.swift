/// Folds texts for comparison: case, accents and width do not matter.
///
/// ```swift
/// var folder = TextFolder()
/// folder.fold("Ｃａｆé STRASSE straße")  // "cafe strasse strasse"
/// ```
///
/// Each scalar is folded by itself: its compatibility decomposition (NFKD), full case folding, and none of the marks that
/// `isFoldedAway` names. What a script needs to distinguish words stays: the voicing of kana, vowel signs
/// of Indic scripts, tones of Thai. Kana and Hangul are composed again. Folding a folded text changes nothing.
///
/// A folder remembers the scalars that it has met, as asking Foundation takes microseconds: use one for many texts.
public struct TextFolder: Sendable {
  /// The known foldings of the scalars of most scripts, by their numbers; empty until one is met.
  private var common: [ScalarFold] = []
  /// Those of the others.
  private var others: [Unicode.Scalar: ScalarFold] = [:]
  /// The foldings that are not a single scalar.
  private var several: [Unicode.Scalar: [Unicode.Scalar]] = [:]
  /// Room for the folding of one text.
  private var buffer: [UInt8] = []

  /// The scalars before the ideographs.
  private static let commonCount = 0x3100

  /// Creates a folder that has met no scalars.
  public init() {}

  /// The folding of a text.
  public mutating func fold(_ text: String) -> String {
    var text = text
    var folded: [UInt8] = []
    text.withUTF8 { unsafe fold($0.span.bytes, into: &folded) }
    return String(decoding: folded, as: UTF8.self)
  }

  /// Calls `body` with the folding of a text, in UTF-8.
  mutating func withFolded<Result>(_ text: RawSpan, body: ([UInt8]) -> Result) -> Result {
    // Taken out, so that there is one reference to it while it changes.
    var folded: [UInt8] = []
    swap(&folded, &buffer)
    folded.removeAll(keepingCapacity: true)
    fold(text, into: &folded)
    defer { swap(&folded, &buffer) }
    return body(folded)
  }

  /// Appends the folding of a text, in UTF-8, to `folded`.
  mutating func fold(_ text: RawSpan, into folded: inout [UInt8]) {
    if text.isASCII { return folded.appendFoldedASCII(text) }
    let start = folded.count
    text.withUTF8 { text in
      if foldAlone(text, into: &folded) { return }
      folded.removeSubrange(start...)
      for scalar in foldedScalars(of: text) { folded.append(scalar.value) }
    }
  }

  /// Appends the folding of a text; false at a scalar that attaches to the one before, see ``foldedScalars(of:)``.
  private mutating func foldAlone(_ text: UTF8Span, into folded: inout [UInt8]) -> Bool {
    let bytes = text.span
    var offset = 0
    while offset < bytes.count {
      if bytes[offset].isASCII {
        folded.append(bytes[offset].foldedASCII)
        offset += 1
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

  /// Whether folding a text may produce one of some letters, or bring two of them together.
  ///
  /// If not, the folded text contains a word of these letters exactly if the text itself does.
  mutating func mayForm(_ letters: ASCIILetters, from text: RawSpan) -> Bool {
    var offset = 0
    while offset < text.byteCount {
      // Every bit pattern is an integer, and the offset has been checked.
      if offset &+ 8 <= text.byteCount,
        unsafe text.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
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

  /// Calls `body` with each scalar that a scalar is folded to.
  mutating func forEachScalar(of scalar: Unicode.Scalar, _ body: (Unicode.Scalar) -> Void) {
    if let single = fold(of: scalar).single { return body(single) }
    several[scalar]?.forEach(body)
  }

  /// A scalar's folding; finds it out the first time.
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

/// What a scalar is folded to, in four bytes.
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

  /// The one scalar; `nil` if there are several, or none.
  var single: Unicode.Scalar? { bits & Self.several == 0 ? Unicode.Scalar(bits & ~Self.attaches) : nil }

  /// Whether a scalar has to be composed with, or put in order among, those before it.
  var attaches: Bool { bits & Self.attaches != 0 }
}
