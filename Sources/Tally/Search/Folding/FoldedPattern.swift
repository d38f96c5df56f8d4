/// A text to look for in others; case, accents and width do not matter.
///
/// ```swift
/// var folder = TextFolder()
/// FoldedPattern("tax form", with: &folder).isFound(in: "Tax forms", with: &folder)
/// ```
public struct FoldedPattern: Sendable, Hashable {
  private let bytes: [UInt8]

  /// Folds a text to look for; an empty one is found everywhere.
  public init(_ text: String, with folder: inout TextFolder) {
    bytes = FoldedText(text, with: &folder).utf8
  }

  /// Whether a text contains the pattern anywhere.
  public func isFound(in text: String, with folder: inout TextFolder) -> Bool {
    var text = text
    text.makeContiguousUTF8()
    return unsafe isFound(in: text.utf8.span.bytes, with: &folder)
  }

  /// Whether a text, as UTF-8, contains the pattern anywhere.
  ///
  /// A text of ASCII is compared in place. Any other is folded first, into `folder`'s buffer.
  func isFound(in text: RawSpan, with folder: inout TextFolder) -> Bool {
    if text.isASCII { return bytes.span.isFoundIgnoringCase(in: text) }
    return folder.withFolded(text) { unsafe bytes.span.isFoundIgnoringCase(in: $0.span.bytes) }
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
