/// A key of a ``SortedTable``.
protocol TableKey: Hashable, Sendable {
  /// Whether it comes before another key; the order is total.
  func precedes(_ other: Self) -> Bool
}

extension TableKey where Self: Comparable {
  func precedes(_ other: Self) -> Bool { self < other }
}

extension [UInt8]: TableKey {
  func precedes(_ other: [UInt8]) -> Bool { lexicographicallyPrecedes(other) }
}

extension ObjectState.Field: TableKey {}
extension ReplicaID: TableKey {}
extension ObjectKey: TableKey {}

/// Values by their keys, in the order of the keys.
///
/// The state of an object has about ten registers. One array of them takes less time and memory than a dictionary, and
/// is in the order in which they are encoded.
struct SortedTable<Key: TableKey, Value: Hashable & Sendable>: Hashable, Sendable {
  private struct Entry: Hashable, Sendable {
    let key: Key
    var value: Value
  }

  private var entries: [Entry] = []

  init() {}

  /// Creates a table of entries that ascend by their keys.
  init(ascending entries: some Sequence<(key: Key, value: Value)>) {
    self.entries = entries.map { Entry(key: $0.key, value: $0.value) }
    assert(zip(self, dropFirst()).allSatisfy { $0.key.precedes($1.key) }, "entries that do not ascend")
  }

  /// Adds an entry; fast if its key comes after all others.
  mutating func append(_ value: Value, forKey key: Key) {
    if let last = entries.last, !last.key.precedes(key) { return self[key] = value }
    entries.append(Entry(key: key, value: value))
  }

  mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

  /// The value of a key; `nil` if there is none.
  subscript(key: Key) -> Value? {
    get {
      let (position, isThere) = place(of: key)
      return isThere ? entries[position].value : nil
    }
    set {
      let (position, isThere) = place(of: key)
      switch (newValue, isThere) {
      case (let value?, true): entries[position].value = value
      case (let value?, false): entries.insert(Entry(key: key, value: value), at: position)
      case (nil, true): entries.remove(at: position)
      case (nil, false): break
      }
    }
  }

  /// The position at which a key is, or would be inserted.
  private func place(of key: Key) -> (position: Int, isThere: Bool) {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].key.precedes(key) { low = middle + 1 } else { high = middle }
    }
    return (low, low < entries.count && entries[low].key == key)
  }

  // These are closures, because generic code would make a key path at every call.
  var keys: LazyMapSequence<Self, Key> { lazy.map { $0.key } }
  var values: LazyMapSequence<Self, Value> { lazy.map { $0.value } }

  func filter(_ isIncluded: ((key: Key, value: Value)) -> Bool) -> Self {
    var table = self
    table.entries.removeAll { !isIncluded(($0.key, $0.value)) }
    return table
  }

  /// Adds the entries of another table; for a key that is in both, a closure combines the two values.
  mutating func merge(_ other: Self, by combine: (Value, Value) -> Value) {
    guard !entries.isEmpty else { return self = other }
    guard !other.entries.isEmpty else { return }
    var (merged, position): ([Entry], Int) = ([], 0)
    merged.reserveCapacity(entries.count + other.entries.count)
    for entry in other.entries {
      while position < entries.count, entries[position].key.precedes(entry.key) {
        merged.append(entries[position])
        position += 1
      }
      if position < entries.count, entries[position].key == entry.key {
        merged.append(Entry(key: entry.key, value: combine(entries[position].value, entry.value)))
        position += 1
      } else {
        merged.append(entry)
      }
    }
    merged += entries[position...]
    entries = merged
  }
}

extension SortedTable: RandomAccessCollection, ExpressibleByDictionaryLiteral {
  var startIndex: Int { 0 }
  var endIndex: Int { entries.count }
  subscript(position: Int) -> (key: Key, value: Value) { (entries[position].key, entries[position].value) }

  /// Creates a table of entries in any order; if several have the same key, the last one counts.
  init(dictionaryLiteral elements: (Key, Value)...) { for (key, value) in elements { self[key] = value } }
}
