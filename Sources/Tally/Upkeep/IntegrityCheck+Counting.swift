import LMDB
import TallyEngine

extension IntegrityCheck {
  /// Compares the counts of entries and the counters with the records, all of which must be of the same snapshot.
  mutating func finish<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws {
    for (position, index) in tables.indexes.enumerated() {
      let count = try index.count(in: transaction)
      // Missing entries have already been found by looking them up.
      if count > foundCounts[index.name, default: 0] { surplusIndexes.append(position) }
    }
    try compareCounters(with: deltas, in: transaction)
    try checkRest(in: transaction)
  }

  /// Recomputes the counters from one snapshot and compares them with the stored ones.
  mutating func checkCountersAnew<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws {
    try checkRest(in: transaction)
    do {
      try compareCounters(with: CounterRebuild(tables: tables).deltas(in: transaction), in: transaction)
    } catch let error as LMDBError where error.code == .undecodable {
      // An unreadable record is reported as its own fault, and leaves nothing to compare with.
    }
  }

  /// Checks the tables that cannot be derived from the records.
  private mutating func checkRest<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws {
    if try !HistoryCheck.passes(tables, in: transaction) { add(.invalidRecord, "history", nil) }
    try checkSearchIndex(in: transaction)
    try OwnDataCheck.run(tables, in: transaction) { add($0, $1.rawValue, $2) }
  }

  /// Compares the counters, byte for byte, with those computed from the records.
  private mutating func compareCounters<T: LMDBTransaction & ~Copyable>(
    with rebuilt: CounterDeltas, in transaction: borrowing T
  ) throws {
    var blocks = try rebuilt.blockCounts()
    try tables.counts.forEach(in: transaction) { key, value in
      let expected = BlockCountsKey(canonically: key).flatMap { blocks.removeValue(forKey: $0) }
      if expected?.encodedBytes != value.bytes(from: 0) { add(.wrongCounter, "counts", nil) }
      return true
    }
    var totals = rebuilt.totalCounts()
    try tables.totals.forEach(in: transaction) { key, value in
      let expected = TotalKey(canonically: key).flatMap { totals.removeValue(forKey: $0) }
      if expected == nil || expected != (try? Total(decoding: value))?.count { add(.wrongCounter, "totals", nil) }
      return true
    }
    for _ in blocks { add(.wrongCounter, "counts", nil) }
    for _ in totals { add(.wrongCounter, "totals", nil) }
    try checkTagNames(countedBy: rebuilt, in: transaction)
  }

  /// Checks that exactly the tags that are counted have a text, and that each text belongs to its tag.
  private mutating func checkTagNames<T: LMDBTransaction & ~Copyable>(
    countedBy rebuilt: CounterDeltas, in transaction: borrowing T
  ) throws {
    var expected = rebuilt.countedTagIDs
    try tables.tagNames.forEach(in: transaction) { key, value in
      let id = IDKey(canonically: key)?.id
      let isOwnText = id.map { value.isWellFormedText && TagID.of(value.text) == $0 } ?? false
      if id.flatMap({ expected.remove($0) }) == nil || !isOwnText { add(.wrongEntry, "tagNames", nil) }
      return true
    }
    for _ in expected { add(.missingEntry, "tagNames", nil) }
  }
}
