/// Reads the pieces of a name, each only in the one form in which it is written.
///
/// By bytes: every look at a folder reads the names of all its files.
struct FolderNameReader {
  private var rest: ArraySlice<UInt8>

  init(_ text: String) {
    rest = Array(text.utf8)[...]
  }

  var isAtEnd: Bool { rest.isEmpty }

  /// Whether a text follows.
  func isAt(_ text: StaticString) -> Bool {
    // The text is constant, and compared within the closure.
    text.withUTF8Buffer { unsafe rest.starts(with: $0) }
  }

  /// Reads a text; false, and nothing is read, if another one follows.
  mutating func take(_ text: StaticString) -> Bool {
    guard isAt(text) else { return false }
    rest = rest.dropFirst(text.utf8CodeUnitCount)
    return true
  }

  /// Reads a number with zeros up to a number of digits; `nil` for another form, and one that is too large.
  mutating func number(_ digitCount: Int) -> UInt64? {
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard digits.count == digitCount || digits.count > digitCount && digits.first != UInt8(ascii: "0") else {
      return nil
    }
    var number: UInt64 = 0
    for digit in digits {
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, hasCarried) = product.addingReportingOverflow(UInt64(digit - UInt8(ascii: "0")))
      guard !isTooLarge, !hasCarried else { return nil }
      number = sum
    }
    rest = rest[digits.endIndex...]
    return number
  }

  /// Reads the start of a hash.
  mutating func digest() -> [UInt8]? {
    let digits = rest.prefix(2 * SegmentHead.digestByteCount)
    guard let digest = HexDigits.bytes(of: digits), digest.count == SegmentHead.digestByteCount else { return nil }
    rest = rest[digits.endIndex...]
    return digest
  }
}
