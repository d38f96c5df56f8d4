import LMDB

/// The amounts that the records of one transaction add to one measure, in a column for each group.
public struct MeasureDeltas: Sendable {
  @usableFromInline
  struct Event: Sendable {
    @usableFromInline let slot: Int32
    @usableFromInline let amount: Int64

    @usableFromInline
    init(slot: Int32, amount: Int64) {
      (self.slot, self.amount) = (slot, amount)
    }
  }

  @usableFromInline var numbers: [[UInt8]: Int] = [:]
  @usableFromInline var groups: [[UInt8]] = []
  @usableFromInline var columns: [[Event]] = []
  /// The column of the last event: most events follow one of the same group.
  @usableFromInline var last = -1
  /// Room for the key of a group.
  @usableFromInline var key: [UInt8] = []

  @usableFromInline
  package init() {}

  package var isEmpty: Bool { columns.allSatisfy(\.isEmpty) }

  /// Adds an amount to a group's slot, or takes it away if the sign is -1.
  @inlinable
  package mutating func add(_ amount: Int64, sign: Int64, slot: Int32, to group: some CompositeKey) {
    key.removeAll(keepingCapacity: true)
    group.appendKey(to: &key)
    if last < 0 || groups[last] != key { selectColumn() }
    columns[last].append(Event(slot: slot, amount: sign &* amount))
    // The least number has no opposite: two events take it away.
    if amount == .min, sign < 0 {
      columns[last][columns[last].count - 1] = Event(slot: slot, amount: .max)
      columns[last].append(Event(slot: slot, amount: 1))
    }
  }

  /// Makes the column of the key the last one.
  @usableFromInline
  mutating func selectColumn() {
    if let number = numbers[key] {
      last = number
      return
    }
    last = groups.count
    numbers[key] = last
    groups.append(key)
    columns.append([])
  }

  /// Calls a closure with the changes of each row: the row's key after the measure's number, and the changed slots.
  func forEachRow<Failure: Error>(_ body: ([UInt8], [SumBlock.Change]) throws(Failure) -> Void) throws(Failure) {
    let order = groups.indices.sorted { groups[$0].lexicographicallyPrecedes(groups[$1]) }
    for number in order where !columns[number].isEmpty {
      let events = columns[number].sorted { $0.slot < $1.slot }
      var start = 0
      while start < events.count {
        let block = CounterBlock.number(containing: Int64(events[start].slot))
        let first = CounterBlock.firstQuarter(of: block)
        var (end, changes): (Int, [SumBlock.Change]) = (start, [])
        while end < events.count, Int64(events[end].slot) - first < Int64(CounterBlock.slotCount) {
          let slot = Int(Int64(events[end].slot) - first)
          // Only what is stored must have 64 bits.
          var amount: Int128 = 0
          while end < events.count, Int64(events[end].slot) - first == Int64(slot) {
            amount += Int128(events[end].amount)
            end += 1
          }
          if amount != 0 { changes.append(SumBlock.Change(slot: slot, amount: amount)) }
        }
        if !changes.isEmpty { try body(MeasureRows.key(of: groups[number], block: block), changes) }
        start = end
      }
    }
  }

  /// The rows that these amounts alone would give, in the order of their keys.
  func rows() throws(TallyError) -> [(key: [UInt8], value: [UInt8])] {
    var rows: [(key: [UInt8], value: [UInt8])] = []
    try forEachRow { (key, changes) throws(TallyError) in
      let value = try SumBlock.encode(changes: changes)
      if !value.isEmpty { rows.append((key, value)) }
    }
    return rows.sorted { $0.key.lexicographicallyPrecedes($1.key) }
  }
}

/// The rows of one measure in the table of its collection.
struct MeasureRows {
  let table: Database<EncodedBytes, EncodedBytes>
  /// The number of the measure, which begins each key.
  let number: UInt16

  private var prefix: [UInt8] { number.bigEndianBytes }

  static func key(of group: [UInt8], block: Int32) -> [UInt8] {
    group + (UInt32(bitPattern: block) ^ 1 << 31).bigEndianBytes
  }

  static let blockByteCount = 4

  /// Adds what a transaction has gathered.
  func add(_ deltas: MeasureDeltas, in transaction: inout WriteTransaction) throws {
    try deltas.forEachRow { rest, changes in
      let key = EncodedBytes(prefix + rest)
      let old = try table.value(forKey: key, in: transaction)
      // Unsafe by signature only: bytes have no padding.
      let row =
        try old.map { try unsafe SumBlock($0.buffer.span.bytes).adding(changes) } ?? SumBlock.encode(changes: changes)
      if row.isEmpty {
        try table.remove(forKey: key, in: &transaction)
      } else {
        try table.put(EncodedBytes(row), forKey: key, in: &transaction)
      }
    }
  }

  /// Removes all rows.
  func removeAll(in transaction: inout WriteTransaction) throws(LMDBError) {
    try table.removeAll(withPrefix: number, in: &transaction)
  }

  /// Calls a closure with the rows of the blocks from one to another of each group with a prefix, until it returns
  /// false: the bytes of the group, the block and the row.
  func forEach<T: LMDBTransaction & ~Copyable>(
    ofGroup group: [UInt8], from first: Int32, in transaction: borrowing T,
    _ body: (Int32, RawSpan) throws -> Bool
  ) throws {
    let start = prefix + Self.key(of: group, block: first)
    try table.raw.forEach(from: start, upTo: (prefix + group).successor, in: transaction) { key, value in
      // The key of another group may begin with this group's bytes only if this group has none.
      guard key.byteCount == start.count else { return true }
      return try body(Self.block(of: key), value)
    }
  }

  /// Calls a closure with every row: the bytes of the group, the block and the row.
  func forEach<T: LMDBTransaction & ~Copyable>(
    in transaction: borrowing T, _ body: ([UInt8], Int32, RawSpan) throws -> Void
  ) throws {
    try table.raw.forEach(from: prefix, upTo: prefix.successor, in: transaction) { key, value in
      guard key.byteCount >= 2 + Self.blockByteCount else { throw TallyError.damagedMeasure }
      let group = key.extracting(2..<(key.byteCount - Self.blockByteCount)).bytes(from: 0)
      try body(group, Self.block(of: key), value)
      return true
    }
  }

  /// The groups that have a row, in the order of their keys, but for the group of all; a step for each of them.
  func groups<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws -> [[UInt8]] {
    var groups: [[UInt8]] = []
    var next: [UInt8]? = prefix
    while let start = next {
      next = nil
      try table.raw.forEach(from: start, upTo: prefix.successor, in: transaction) { key, _ in
        guard key.byteCount >= 2 + Self.blockByteCount else { throw TallyError.damagedMeasure }
        // Rows of all groups lie between those of others.
        guard key.byteCount > 2 + Self.blockByteCount else { return true }
        let group = key.extracting(2..<(key.byteCount - Self.blockByteCount)).bytes(from: 0)
        groups.append(group)
        next = (prefix + group).successor
        return false
      }
    }
    return groups
  }

  private static func block(of key: RawSpan) -> Int32 {
    key.load(orderedInt32At: key.byteCount - blockByteCount)
  }
}

extension [UInt8] {
  /// The smallest bytes above all those that begin with these; longer than any key if there are none.
  package var successor: [UInt8] {
    guard let last = lastIndex(where: { $0 < .max }) else { return [UInt8](repeating: .max, count: 511) }
    return self[..<last] + [self[last] + 1]
  }
}
