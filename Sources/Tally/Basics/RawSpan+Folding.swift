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
  var isASCII: Bool {
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
    return union & 0x8080_8080_8080_8080 == 0
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
  /// The iterator of `UTF8Span` makes two calls for each scalar: folding took two thirds longer.
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
  var isASCII: Bool { self < 0x80 }

  /// The lowercase of an ASCII letter; any other byte as it is.
  @inline(__always)
  var foldedASCII: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
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
