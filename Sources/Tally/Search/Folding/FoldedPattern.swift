/// A text to look for in others; case, accents and width do not matter.
///
/// ```swift
/// var folder = TextFolder()
/// FoldedPattern("tax form", with: &folder).isFound(in: "Tax forms", with: &folder)
/// ```
public struct FoldedPattern: Sendable, Hashable {
  private let bytes: [UInt8]
  /// The letters of a pattern that is ASCII; `nil` for any other.
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
  /// The text is compared in place where that is enough. Where folding could make a letter of the pattern, or drop what
  /// stands between two of them, it is folded first, into `folder`'s buffer.
  func isFound(in text: RawSpan, with folder: inout TextFolder) -> Bool {
    if let letters {
      // Letters of ASCII stay where they are: what is found before folding is found after it.
      if bytes.span.isFoundIgnoringCase(in: text) { return true }
      if text.isASCII || !folder.mayForm(letters, from: text) { return false }
    } else if text.isASCII {
      return false
    }
    return folder.withFolded(text) { unsafe bytes.span.isFoundIgnoringCase(in: $0.span.bytes) }
  }
}

/// A set of scalars of ASCII.
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
  func isFoundIgnoringCase(in text: RawSpan) -> Bool {
    guard count > 0 else { return true }
    guard count <= text.byteCount else { return false }
    // Both buffers are read within their bounds: `start` leaves room for all bytes of the pattern.
    return unsafe withUnsafeBufferPointer { pattern in
      unsafe text.withUnsafeBytes { text in
        for start in 0...(text.count - pattern.count) where unsafe text[start].foldedASCII == pattern[0] {
          var length = 1
          while length < pattern.count, unsafe text[start + length].foldedASCII == pattern[length] { length += 1 }
          if length == pattern.count { return true }
        }
        return false
      }
    }
  }
}
