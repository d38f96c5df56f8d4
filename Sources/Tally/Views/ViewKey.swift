import LMDB

/// A task's position in the order of a view: bytes that compare as the view orders its tasks.
///
/// A prefix, which is the number of the range or the day, then the key in the index that the view walks; in a view that
/// walks backwards every bit of the key is flipped.
struct ViewKey: Hashable, Comparable, Sendable {
  private let bytes: [UInt8]
  private let prefixByteCount: Int

  init(prefix: [UInt8], _ indexKey: [UInt8], isReversed: Bool = false) {
    bytes = prefix + (isReversed ? indexKey.map { ~$0 } : indexKey)
    prefixByteCount = prefix.count
  }

  var prefix: [UInt8] { Array(bytes[..<prefixByteCount]) }

  /// The key in the view's index.
  func indexKey(isReversed: Bool) -> [UInt8] {
    let key = bytes[prefixByteCount...]
    return isReversed ? key.map { ~$0 } : Array(key)
  }

  static func < (left: ViewKey, right: ViewKey) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}

/// Keys of an index from a lower bound up to but not including an upper one, as bytes.
struct KeyRange: Sendable {
  let lower: [UInt8]
  /// `nil` for no bound.
  let upper: [UInt8]?

  init<Key: IndexKey>(_ lower: Key, _ upper: Key?) {
    self.lower = lower.encodedBytes
    self.upper = upper?.encodedBytes
  }

  func contains(_ key: [UInt8]) -> Bool {
    !key.lexicographicallyPrecedes(lower) && (upper.map { key.lexicographicallyPrecedes($0) } ?? true)
  }
}
