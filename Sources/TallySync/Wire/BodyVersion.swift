/// The version with which each body begins.
enum BodyVersion {
  static let current: UInt8 = 1

  /// Reads a body, its version first.
  ///
  /// - Parameters:
  ///   - bytes: The body, or anything else.
  ///   - read: Reads the rest, up to the end.
  /// - Returns: The value that was read.
  /// - Throws: ``EnvelopeFault/needsNewerVersion``, or ``EnvelopeFault/malformed(_:)``.
  static func decode<Value>(
    _ bytes: [UInt8], read: (inout ByteReader) throws(CodingFault) -> Value
  ) throws(EnvelopeFault) -> Value {
    guard (bytes.first ?? 0) <= current else { throw .needsNewerVersion }
    do throws(CodingFault) {
      var reader = ByteReader(bytes)
      guard try reader.byte() == current else { throw .impossibleValue }
      let value = try read(&reader)
      guard reader.isAtEnd else { throw .trailingBytes }
      return value
    } catch {
      throw .malformed(error)
    }
  }
}
