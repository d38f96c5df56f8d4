/// Hides the exact size of a body: its byte count, four bytes; its bytes; then zeros.
enum BodyPadding {
  static let blockByteCount = 64
  private static let prefixByteCount = 4

  /// Pads a body to whole blocks.
  ///
  /// - Parameter body: Fewer than 4 GiB.
  /// - Returns: The padded body.
  static func padded(_ body: [UInt8]) -> [UInt8] {
    let count = paddedByteCount(body.count)
    var padded: [UInt8] = []
    padded.reserveCapacity(count)
    padded += UInt32(truncatingIfNeeded: body.count).bigEndianBytes
    padded += body
    padded += [UInt8](repeating: 0, count: count - padded.count)
    return padded
  }

  /// Reads a padded body.
  ///
  /// - Parameter padded: The padded body, or anything else.
  /// - Returns: The body.
  /// - Throws: ``EnvelopeFault/malformed(_:)`` if it is not padded in the one way in which ``padded(_:)`` does it.
  static func content(of padded: some RandomAccessCollection<UInt8>) throws(EnvelopeFault) -> [UInt8] {
    guard padded.count >= prefixByteCount else { throw .malformed(.endsEarly) }
    let count = Int(clamping: UInt32(bigEndianBytes: padded.prefix(prefixByteCount)))
    let rest = padded.dropFirst(prefixByteCount)
    guard count <= rest.count else { throw .malformed(.endsEarly) }
    guard paddedByteCount(count) == padded.count, rest.dropFirst(count).allSatisfy({ $0 == 0 }) else {
      throw .malformed(.notCanonical)
    }
    return Array(rest.prefix(count))
  }

  private static func paddedByteCount(_ count: Int) -> Int {
    (prefixByteCount + count + blockByteCount - 1) / blockByteCount * blockByteCount
  }
}
