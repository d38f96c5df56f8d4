import LMDB

/// Appends entries to the history and keeps it within its bounds.
struct HistoryWriter {
  let table: Database<HistoryKey, HistoryRecord>

  /// Writes the entry of one write, and removes old entries that exceed the bounds.
  ///
  /// An entry whose images were too many to keep cuts the history: nothing from before it can be undone. Not so an undo,
  /// after which the records are as if its target had never been: it is kept without images, and cannot be redone.
  func append(
    _ entry: HistoryEntry, _ images: BeforeImages, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    let isCut = images.isTooLarge && entry.kind != .undo
    let first = HistoryRecord(
      kind: isCut ? .cut : entry.kind, origin: entry.origin, target: isCut ? nil : entry.target,
      dateMicroseconds: entry.date.microsecondsSince1970,
      precedingSizeInBytes: try endInBytes(in: transaction), actionName: entry.actionName,
      replica: entry.replica)
    if isCut { while try removeFirst(in: &transaction) > 0 {} }
    var record = first
    for (part, bytes) in images.parts.enumerated() {
      record.images = bytes
      try table.append(record, forKey: HistoryKey(entry.id, part: UInt16(part)), in: &transaction)
      record.precedingSizeInBytes += UInt64(bytes.count)
      (record.actionName, record.replica) = (nil, nil)
    }
    try trim(to: HistoryBounds(after: first), endingAt: record.precedingSizeInBytes, in: &transaction)
  }

  /// The size of all images ever written, since the store was created.
  private func endInBytes<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> UInt64 {
    var cursor = try table.cursor(in: transaction)
    guard try cursor.moveToLast() else { return 0 }
    let size = try HistoryRecord.images(of: cursor.valueBytes).byteCount
    return try HistoryRecord(headOf: cursor.valueBytes).precedingSizeInBytes &+ UInt64(size)
  }

  /// Removes the oldest entries if there are too many, or they are too large.
  private func trim(
    to bounds: HistoryBounds, endingAt end: UInt64, in transaction: inout WriteTransaction
  ) throws(LMDBError) {
    var count = try table.count(in: transaction)
    let maximumSize = bounds.maximumSizeInBytes
    var start = try startInBytes(in: transaction)
    guard count > bounds.maximumPartCount || end &- start > maximumSize else { return }
    while count > bounds.keptPartCount || end &- start > maximumSize {
      let removedCount = try removeFirst(in: &transaction)
      guard removedCount > 0 else { return }
      count -= removedCount
      start = try startInBytes(in: transaction)
    }
  }

  private func startInBytes<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> UInt64 {
    var cursor = try table.cursor(in: transaction)
    return try cursor.moveToFirst() ? HistoryRecord(headOf: cursor.valueBytes).precedingSizeInBytes : 0
  }

  /// Removes the oldest entry with all its parts, and returns their number.
  private func removeFirst(in transaction: inout WriteTransaction) throws(LMDBError) -> Int {
    let keys = try firstKeys(in: transaction)
    for key in keys { _ = try table.remove(forKey: key, in: &transaction) }
    return keys.count
  }

  private func firstKeys<T: LMDBTransaction & ~Copyable>(in transaction: borrowing T) throws(LMDBError) -> [HistoryKey]
  {
    var keys: [HistoryKey] = []
    var cursor = try table.cursor(in: transaction)
    var isAtEntry = try cursor.moveToFirst()
    while isAtEntry {
      let key = try cursor.key()
      if let first = keys.first, first.change != key.change { break }
      keys.append(key)
      isAtEntry = try cursor.next()
    }
    return keys
  }
}
