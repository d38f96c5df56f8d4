package import LMDB

/// Appends entries to the history and removes the oldest ones that exceed its bounds.
package struct HistoryWriter {
  package let table: Database<HistoryKey, HistoryRecord>

  package init(table: Database<HistoryKey, HistoryRecord>) {
    self.table = table
  }

  /// Writes the entry of one write, and removes old entries that exceed the bounds.
  ///
  /// An entry with too many images to keep cuts the history: nothing before it can be undone. An undo is different: it
  /// leaves the records as if its target had never been written, so it is kept without images, and cannot be redone.
  package func append(
    _ entry: HistoryEntry, _ images: BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let isCut = images.isTooLarge && entry.kind != .undo
    var first = HistoryRecord(
      kind: isCut ? .cut : entry.kind, origin: entry.origin, target: isCut ? nil : entry.target,
      dateMicroseconds: entry.dateMicroseconds,
      precedingSizeInBytes: try endInBytes(in: transaction), actionName: entry.actionName,
      replica: entry.replica)
    let bounds = HistoryBounds(after: first)
    let parts = images.parts
    let size = parts.reduce(0) { $0 + $1.count }
    let start = try mayBeLarge(bounds, adding: size, in: transaction) ? startInBytes(in: transaction) : nil
    var count = try table.count(in: transaction)
    if isCut {
      try removeFirst(in: &transaction) { _, _ in true }
      count = try table.count(in: transaction)
    } else if bounds.isOrdinary, try isFull(bounds, count + parts.count, since: start, adding: size, in: transaction) {
      // Undone writes can no longer be redone, and must not push out writes that can still be undone.
      try removeCancelled(in: &transaction)
      first.precedingSizeInBytes = try endInBytes(in: transaction)
      count = try table.count(in: transaction)
    }
    var record = first
    for (part, bytes) in parts.enumerated() {
      record.images = bytes
      try table.append(record, forKey: HistoryKey(entry.id, part: UInt16(part)), in: &transaction)
      record.precedingSizeInBytes &+= UInt64(bytes.count)
      (record.actionName, record.replica) = (nil, nil)
    }
    try trim(count + parts.count, to: bounds, since: start, endingAt: record.precedingSizeInBytes, in: &transaction)
  }

  /// Whether all images together may exceed their bound.
  ///
  /// The exact size needs the first entry. Until a log is merged, removed entries lie before it, and finding it would
  /// cost a write as much as everything else.
  private func mayBeLarge<T: LMDBTransaction & ~Copyable>(
    _ bounds: HistoryBounds, adding size: Int, in transaction: borrowing T
  ) throws(LMDBError) -> Bool {
    try UInt64(table.largestSizeInBytes(in: transaction) + size) > bounds.maximumSizeInBytes
  }

  /// The size of all images ever written, since the store was created.
  private func endInBytes<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> UInt64 {
    var cursor = try table.cursor(in: transaction)
    guard try cursor.moveToLast() else { return 0 }
    let size = try HistoryRecord.images(of: cursor.valueBytes).byteCount
    return try HistoryRecord(headOf: cursor.valueBytes).precedingSizeInBytes &+ UInt64(size)
  }

  /// Whether entries must be removed to make room for another one.
  private func isFull<T: LMDBTransaction & ~Copyable>(
    _ bounds: HistoryBounds, _ count: Int, since start: UInt64?, adding newSize: Int, in transaction: borrowing T
  ) throws(LMDBError) -> Bool {
    if count > bounds.maximumPartCount { return true }
    guard let start else { return false }
    return try endInBytes(in: transaction) &- start &+ UInt64(newSize) > bounds.maximumSizeInBytes
  }

  /// Removes the newest entries that cancel each other out: undos, and directly before them the writes that they undid.
  ///
  /// The records are the same as before all of these entries. As they are the newest, no gap appears in the running
  /// sizes of the remaining entries.
  private func removeCancelled(in transaction: inout WriteTransaction) throws(LMDBError) {
    for key in try cancelledKeys(in: transaction) { _ = try table.remove(forKey: key, in: &transaction) }
  }

  private func cancelledKeys<T: LMDBTransaction & ~Copyable>(
    in transaction: borrowing T
  ) throws(LMDBError) -> ArraySlice<HistoryKey> {
    var (keys, cancelledCount) = ([HistoryKey](), 0)
    // The targets of the undos seen so far. Writes that were undone in another order need not cancel each other out.
    var undone: [ChangeID] = []
    var cursor = try table.cursor(in: transaction)
    var isAtEntry = try cursor.moveToLast()
    while isAtEntry {
      let (key, head) = (try cursor.key(), try HistoryRecord(headOf: cursor.valueBytes))
      guard head.origin == .local else { break }
      if key.change != keys.last?.change {
        if head.kind == .undo, let target = head.target {
          undone.append(target)
        } else {
          guard head.kind != .cut, undone.last == key.change else { break }
          undone.removeLast()
        }
      }
      keys.append(key)
      if key.part == 0, undone.isEmpty { cancelledCount = keys.count }
      isAtEntry = try cursor.previous()
    }
    return keys.prefix(cancelledCount)
  }

  /// Removes the oldest entries if there are too many entries or too many bytes.
  private func trim(
    _ count: Int, to bounds: HistoryBounds, since start: UInt64?, endingAt end: UInt64,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let isLarge = start.map { end &- $0 > bounds.maximumSizeInBytes } ?? false
    guard count > bounds.maximumPartCount || isLarge else { return }
    try removeFirst(in: &transaction) { removedCount, start in
      count - removedCount > bounds.keptPartCount || end &- start > bounds.maximumSizeInBytes
    }
  }

  private func startInBytes<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> UInt64 {
    var cursor = try table.cursor(in: transaction)
    return try cursor.moveToFirst() ? HistoryRecord(headOf: cursor.valueBytes).precedingSizeInBytes : 0
  }

  /// Removes the oldest entries, each with all its parts, while a closure wants it.
  ///
  /// The closure gets the number of parts that are removed before an entry, and the size of all images before it.
  private func removeFirst(
    in transaction: inout WriteTransaction, while isWanted: (_ removedCount: Int, _ startInBytes: UInt64) -> Bool
  ) throws(LMDBError) {
    // The keys are gathered in one pass: a new cursor would pass the removed entries again.
    for key in try firstKeys(in: transaction, while: isWanted) { _ = try table.remove(forKey: key, in: &transaction) }
  }

  private func firstKeys<T: LMDBTransaction & ~Copyable>(
    in transaction: borrowing T, while isWanted: (_ count: Int, _ startInBytes: UInt64) -> Bool
  ) throws(LMDBError) -> [HistoryKey] {
    var keys: [HistoryKey] = []
    var cursor = try table.cursor(in: transaction)
    var isAtEntry = try cursor.moveToFirst()
    while isAtEntry {
      let key = try cursor.key()
      if key.change != keys.last?.change {
        let start = try HistoryRecord(headOf: cursor.valueBytes).precedingSizeInBytes
        guard isWanted(keys.count, start) else { break }
      }
      keys.append(key)
      isAtEntry = try cursor.next()
    }
    return keys
  }
}

/// How much of the history remains after a write.
///
/// After an ordinary write, about a thousand parts and 8 MiB of images remain. After an undo, a redo or a write from
/// another replica twice as much remains, so that its own entry does not push out the change to be undone next.
package struct HistoryBounds {
  /// How many parts remain after an ordinary write has removed the oldest; nearly every entry has one part.
  package static let ordinaryPartCount = 1_000
  /// The fewest parts that are removed at a time: each removal writes pages at the other end of the table.
  package static let slackPartCount = 64

  /// Whether the write was made in this store and is neither an undo nor a redo.
  package let isOrdinary: Bool
  /// How many parts remain after the oldest have been removed.
  package let keptPartCount: Int
  /// The most bytes of images that remain.
  package let maximumSizeInBytes: UInt64

  /// The bounds after a write with this entry.
  package init(after entry: HistoryRecord) {
    isOrdinary = entry.origin == .local && entry.kind != .undo && entry.kind != .redo
    keptPartCount = isOrdinary ? Self.ordinaryPartCount : 2 * (Self.ordinaryPartCount + Self.slackPartCount)
    maximumSizeInBytes = UInt64((isOrdinary ? 1 : 2) * BeforeImages.maximumSizeInBytes)
  }

  /// The most parts that there may be before the oldest are removed.
  package var maximumPartCount: Int { keptPartCount + Self.slackPartCount }
}
