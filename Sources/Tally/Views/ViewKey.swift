import LMDB

/// A task's position in the order of a view: bytes that compare as the view orders its tasks.
///
/// A prefix, which is the number of the range or the day, then the key in the index that the view walks; in a view that
/// walks backwards every bit of the key is flipped.
struct ViewKey: Hashable, Comparable, Sendable {
  let bytes: KeyBytes
  private let prefixByteCount: Int

  init(prefix: KeyBytes, _ indexKey: some BinaryCodable) {
    var bytes = prefix
    bytes.append(indexKey)
    self.bytes = bytes
    prefixByteCount = prefix.encodedByteCount
  }

  init(prefix: KeyBytes, _ indexKey: KeyBytes, isReversed: Bool) {
    self.init(prefix: prefix, isReversed ? indexKey.flipped : indexKey)
  }

  /// Bytes from outside, which may name a position that no task of the view has; `nil` for those that cannot.
  init?(bytes: some Collection<UInt8>, prefixByteCount: Int) {
    guard (prefixByteCount + 1...KeyBytes.capacity).contains(bytes.count) else { return nil }
    self.bytes = KeyBytes(Array(bytes))
    self.prefixByteCount = prefixByteCount
  }

  var prefix: KeyBytes { bytes[0..<prefixByteCount] }

  /// The key in the view's index.
  func indexKey(isReversed: Bool) -> KeyBytes {
    let key = bytes[prefixByteCount..<bytes.encodedByteCount]
    return isReversed ? key.flipped : key
  }

  static func < (left: ViewKey, right: ViewKey) -> Bool { left.bytes < right.bytes }
}
