/// A text as ``TextFolder`` folds it, in UTF-8, with the way back to the original.
///
/// ```swift
/// var folder = TextFolder()
/// let folded = FoldedText("Ｃａｆé", with: &folder)
/// String(decoding: folded.utf8, as: UTF8.self)  // "cafe"
/// folded.originalRange(of: 3..<4)               // 9..<11, the bytes of "é"
/// ```
public struct FoldedText: Sendable {
  /// The folded text.
  public private(set) var utf8: [UInt8] = []
  /// For each byte of ``utf8`` the bytes of the original that it came from; empty if the offsets are the same.
  private var sources: [Range<Int>] = []

  /// Folds a text; costs one pass.
  public init(_ text: String, with folder: inout TextFolder) {
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

  /// The range of the original's UTF-8 that a range of ``utf8`` came from, grown to whole scalars with their accents.
  public func originalRange(of range: Range<Int>) -> Range<Int> {
    guard !sources.isEmpty, !range.isEmpty else { return range }
    let source = sources[range]
    let start = source.map(\.lowerBound).min() ?? range.lowerBound
    return start..<(source.map(\.upperBound).max() ?? start)
  }
}
