import LMDB

/// Keys of an index from a lower bound up to but not including an upper one, as bytes.
struct KeyRange: Sendable {
  let lower: KeyBytes
  let upper: KeyBytes

  /// From a key up to another one; up to the end of the index without one.
  init<Key: IndexKey>(_ lower: Key, _ upper: Key?) {
    self.lower = KeyBytes(lower)
    self.upper = upper.map { KeyBytes($0) } ?? .highest
  }

  func contains(_ key: KeyBytes) -> Bool {
    key >= lower && key < upper
  }
}
