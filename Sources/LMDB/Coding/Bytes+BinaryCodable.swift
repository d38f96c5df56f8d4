extension Array: BinaryCodable, KeyCodable where Element == UInt8 {
  /// The number of elements.
  @inlinable public var encodedByteCount: Int { count }

  /// Writes the bytes as they are; their order is lexicographic.
  @inlinable
  public func encode(into output: inout OutputRawSpan) {
    // Unsafe by signature only: bytes are bytes.
    unsafe output.append(copying: span.bytes)
  }

  /// Copies the bytes; never throws.
  @inlinable
  public init(decoding bytes: RawSpan) throws(LMDBError) {
    // The span is only read within the closure, so its pointer cannot outlive it.
    self = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
  }
}

/// As a key, a text is its bytes: the order is that of its Unicode scalars.
///
/// Swift compares texts by their canonical form. The two agree on texts in that form (NFC); other texts that Swift
/// calls equal are different keys. An empty text can only be a part of a key.
extension String: BinaryCodable, KeyCodable {
  /// The number of bytes in UTF-8.
  @inlinable public var encodedByteCount: Int { utf8.count }

  /// Writes the text as UTF-8.
  @inlinable
  public func encode(into output: inout OutputRawSpan) {
    var text = self
    // Read within the closure only.
    text.withUTF8 { unsafe output.append(copying: $0.span.bytes) }
  }

  /// Copies text.
  ///
  /// Throws `undecodable` if the bytes are not UTF-8.
  @inlinable
  public init(decoding bytes: RawSpan) throws(LMDBError) {
    // The span is only read within the closure, so its pointer cannot outlive it.
    let text = unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    guard let text else { throw LMDBError.undecodable("UTF-8 text", byteCount: bytes.byteCount) }
    self = text
  }
}

extension OutputRawSpan {
  /// Appends many bytes at once; traps, as appending one does, if they do not fit.
  ///
  /// ```swift
  /// func encode(into output: inout OutputRawSpan) {
  ///   output.append(copying: digest.span.bytes)
  /// }
  /// ```
  @inlinable
  @_lifetime(self: copy self)
  public mutating func append(copying bytes: RawSpan) {
    precondition(bytes.byteCount <= freeCapacity, "more bytes than announced")
    // The source is only read within the closures; the target is the free part, which the check above has measured.
    unsafe withUnsafeMutableBytes { buffer, count in
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: bytes)
      }
      count += bytes.byteCount
    }
  }
}
