/// The number of a segment in the stream of its replica, and the start of its hash.
public struct SegmentHead: Hashable, Sendable {
  /// How many bytes of the hash are kept.
  public static let digestByteCount = 8

  /// From 1; 0 before the first segment.
  public let number: UInt64
  /// The first eight bytes of the segment's SHA-256; zeros before the first segment.
  public let digest: [UInt8]

  /// Takes a number and the start of a hash.
  ///
  /// - Parameters:
  ///   - number: The number, from 1.
  ///   - digest: The first bytes of the segment's SHA-256; missing ones count as zeros, further ones are dropped.
  public init(number: UInt64, digest: [UInt8]) {
    self.number = number
    let start = digest.prefix(Self.digestByteCount)
    self.digest = start + [UInt8](repeating: 0, count: Self.digestByteCount - start.count)
  }

  /// Before the first segment.
  public static let none = SegmentHead(number: 0, digest: [])
}
