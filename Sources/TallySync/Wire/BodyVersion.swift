/// The version with which each body begins.
enum BodyVersion {
  static let current: UInt8 = 1
  /// That of a card with the keys of past epochs.
  static let cardWithKeys: UInt8 = 2

  /// Reads a body, its version first.
  ///
  /// - Parameters:
  ///   - bytes: The body, or anything else.
  ///   - newest: The newest version of this kind of body.
  ///   - read: Reads the rest, up to the end.
  /// - Returns: The value that was read.
  /// - Throws: ``EnvelopeFault/needsNewerVersion``, or ``EnvelopeFault/malformed(_:)``.
  static func decode<Value>(
    _ bytes: [UInt8], newest: UInt8 = current, read: (inout ByteReader) throws(CodingFault) -> Value
  ) throws(EnvelopeFault) -> Value {
    try start(of: bytes, newest: newest) { reader throws(CodingFault) in
      let value = try read(&reader)
      guard reader.isAtEnd else { throw .trailingBytes }
      return value
    }
  }

  /// Like ``decode(_:newest:read:)``, but reads only the first values of a body.
  static func start<Value>(
    of bytes: [UInt8], newest: UInt8 = current, read: (inout ByteReader) throws(CodingFault) -> Value
  ) throws(EnvelopeFault) -> Value {
    guard (bytes.first ?? 0) <= newest else { throw .needsNewerVersion }
    do throws(CodingFault) {
      var reader = ByteReader(bytes)
      guard try reader.byte() >= current else { throw .impossibleValue }
      return try read(&reader)
    } catch {
      throw .malformed(error)
    }
  }
}
