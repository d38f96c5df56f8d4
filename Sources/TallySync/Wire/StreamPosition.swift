/// A place in a replica's stream: the number and the whole hash of a segment.
struct StreamPosition: Hashable, Sendable, Codable {
  let number: UInt64
  let hash: ContentHash

  /// Before the first segment.
  static let start = StreamPosition(number: 0, hash: .none)

  init(number: UInt64, hash: ContentHash) {
    (self.number, self.hash) = (number, hash)
  }

  init(_ segment: Envelope) {
    self.init(number: segment.header.label.number, hash: segment.hash)
  }

  /// The number and the start of the hash.
  var head: SegmentHead { SegmentHead(number: number, digest: hash.bytes) }
}
