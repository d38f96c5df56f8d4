import LMDB

/// A range of an index's keys, as bytes: from a lower bound up to but not including an upper one.
struct KeyRange: Sendable {
  let lower: KeyBytes
  let upper: KeyBytes

  /// The range from `lower` up to `upper`, or to the end of the index if `upper` is `nil`.
  init<Key: IndexKey>(_ lower: Key, _ upper: Key?) {
    self.lower = KeyBytes(lower)
    self.upper = upper.map { KeyBytes($0) } ?? .highest
  }

  func contains(_ key: KeyBytes) -> Bool {
    key >= lower && key < upper
  }
}
