/// A text to look for in others; case, accents and width do not matter.
///
/// ```swift
/// var folder = TextFolder()
/// FoldedPattern("tax form", with: &folder).isFound(in: "Tax forms", with: &folder)
/// ```
public struct FoldedPattern: Sendable, Hashable {
  private let bytes: [UInt8]
  /// The letters of the pattern if it is ASCII; otherwise `nil`.
  private let letters: ASCIILetters?

  /// Folds a text to look for; an empty one is found everywhere.
  public init(_ text: String, with folder: inout TextFolder) {
    bytes = FoldedText(text, with: &folder).utf8
    letters = ASCIILetters(bytes)
  }

  /// Whether a text contains the pattern anywhere.
  public func isFound(in text: String, with folder: inout TextFolder) -> Bool {
    var text = text
    text.makeContiguousUTF8()
    return unsafe isFound(in: text.utf8.span.bytes, with: &folder)
  }

  /// Whether a text, as UTF-8, contains the pattern anywhere.
  ///
  /// The text is compared in place if that is enough. If folding could produce a letter of the pattern, or drop what stands
  /// between two of them, the text is folded first, into `folder`'s buffer.
  func isFound(in text: RawSpan, with folder: inout TextFolder) -> Bool {
    if let letters {
      // Folding keeps ASCII letters in place: what is found before folding is found after it.
      if bytes.span.isFoundIgnoringCase(in: text) { return true }
      if !folder.mayForm(letters, from: text) { return false }
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

extension Span<UInt8> {
  /// Whether a text contains these folded bytes; ASCII letters of the text may be of either case.
  ///
  /// Looks for the first and the last byte at eight places at once. With the lowercase bit set, some different bytes look
  /// equal, so a place that is found is then compared in full.
  func isFoundIgnoringCase(in text: RawSpan) -> Bool {
    guard count > 0 else { return true }
    guard count <= text.byteCount else { return false }
    let lastStart = text.byteCount - count
    var start = 0
    if lastStart >= 7 {
      let first = UInt64(repeating: self[0] | 0x20), last = UInt64(repeating: self[count - 1] | 0x20)
      while true {
        // Both loads lie in the text: `start` is at most seven before its last value. Any bytes are an integer.
        let firsts = unsafe text.unsafeLoadUnaligned(fromUncheckedByteOffset: start, as: UInt64.self)
        let lasts = unsafe text.unsafeLoadUnaligned(fromUncheckedByteOffset: start + count - 1, as: UInt64.self)
        let bits = UInt64(repeating: 0x20)
        let differences = ((firsts | bits) ^ first) | ((lasts | bits) ^ last)
        if differences.hasZeroByte, (start...start + 7).contains(where: { isEqualIgnoringCase(to: text, at: $0) }) {
          return true
        }
        if start == lastStart - 7 { return false }
        start = Swift.min(start + 8, lastStart - 7)
      }
    }
    while start <= lastStart {
      if isEqualIgnoringCase(to: text, at: start) { return true }
      start += 1
    }
    return false
  }

  /// Whether these folded bytes are at an offset of a text, which has at least as many bytes from there on.
  private func isEqualIgnoringCase(to text: RawSpan, at start: Int) -> Bool {
    for index in indices
    where unsafe text.unsafeLoad(fromUncheckedByteOffset: start + index, as: UInt8.self).foldedASCII != self[index] {
      return false
    }
    return true
  }
}

extension UInt64 {
  /// A byte eight times.
  fileprivate init(repeating byte: UInt8) { self = UInt64(byte) &* 0x0101_0101_0101_0101 }

  /// Whether one of the bytes is zero (Warren, "Hacker's Delight", 6-1).
  fileprivate var hasZeroByte: Bool { (self &- 0x0101_0101_0101_0101) & ~self & 0x8080_8080_8080_8080 != 0 }
}
