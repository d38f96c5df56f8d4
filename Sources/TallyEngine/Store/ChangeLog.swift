import LMDB

/// When each record of a store was last changed: one row for each record, and one for each that was deleted.
///
/// | table | key | value |
/// | --- | --- | --- |
/// | `changes` | the commit, 8 bytes; the collection's number, 2 bytes; the record's id | empty; of a deleted record, the commit that created it |
/// | `deleted` | the collection's number and the record's id | the commits that first created and last deleted the record |
///
/// A reader that knows the changes up to a commit continues from there, however long ago that was.
struct ChangeLog: Sendable {
  let changes: Database<EncodedBytes, EncodedBytes>
  let deleted: Database<EncodedBytes, EncodedBytes>

  static let tableNames = ["changes", "deleted"]

  /// The commits that created a record and last changed it; 16 bytes at the beginning of each stored record.
  struct Stamp: Equatable {
    static let byteCount = 16
    let created: UInt64
    let changed: UInt64

    init(created: UInt64, changed: UInt64) {
      (self.created, self.changed) = (created, changed)
    }

    init(_ bytes: RawSpan) throws(TallyError) {
      guard bytes.byteCount >= Self.byteCount else { throw .cutOffRecord }
      (created, changed) = (bytes.load(bigEndianAt: 0), bytes.load(bigEndianAt: 8))
    }

    var bytes: [UInt8] { created.bigEndianBytes + changed.bigEndianBytes }
  }

  /// A record of a collection.
  struct Object: Hashable {
    let collection: UInt16
    /// The bytes of the id.
    let id: [UInt8]

    var key: [UInt8] { collection.bigEndianBytes + id }

    init(collection: UInt16, id: [UInt8]) {
      (self.collection, self.id) = (collection, id)
    }

    init(key bytes: RawSpan) throws(TallyError) {
      guard bytes.byteCount > 2 else { throw .cutOffRecord }
      (collection, id) = (bytes.load(bigEndianAt: 0), bytes.bytes(from: 2))
    }
  }

  func row(_ object: Object, at sequence: UInt64) -> EncodedBytes {
    EncodedBytes(sequence.bigEndianBytes + object.key)
  }

  /// Records that a record was written or deleted by a commit.
  func note(
    _ object: Object, from old: Stamp?, to new: Stamp?, at sequence: UInt64, in transaction: inout WriteTransaction
  ) throws {
    if let old, old.changed != sequence || new == nil {
      try changes.remove(forKey: row(object, at: old.changed), in: &transaction)
    }
    if new != nil {
      if old == nil { try showAgain(object, in: &transaction) }
      try changes.put(EncodedBytes([]), forKey: row(object, at: sequence), in: &transaction)
    } else if let old {
      // Of a record that had been deleted before, somebody may know only the earlier life.
      let first = try deletion(of: object, in: transaction)?.created ?? old.created
      let stamp = Stamp(created: min(first, old.created), changed: sequence)
      try changes.put(EncodedBytes(stamp.created.bigEndianBytes), forKey: row(object, at: sequence), in: &transaction)
      try deleted.put(EncodedBytes(stamp.bytes), forKey: EncodedBytes(object.key), in: &transaction)
    }
  }

  /// Removes the row of the deletion of a record that is created again; that it has been deleted stays known.
  private func showAgain(_ object: Object, in transaction: inout WriteTransaction) throws {
    guard try deleted.count(in: transaction) > 0, let stamp = try deletion(of: object, in: transaction) else { return }
    try changes.remove(forKey: row(object, at: stamp.changed), in: &transaction)
  }

  /// The commits that first created and last deleted a record; `nil` if it has never been deleted.
  func deletion<T: LMDBTransaction & ~Copyable>(of object: Object, in transaction: borrowing T) throws -> Stamp? {
    guard let bytes = try deleted.bytes(forKey: EncodedBytes(object.key), in: transaction) else { return nil }
    return try Stamp(bytes)
  }

  /// Calls a closure with each record that has changed after a commit, in the order of the commits: the record, the
  /// commit of its last change, and, if it was deleted, the commit that created it.
  func forEach<T: LMDBTransaction & ~Copyable>(
    since sequence: UInt64, in transaction: borrowing T, _ body: (Object, UInt64, _ created: UInt64?) throws -> Void
  ) throws {
    guard sequence < .max else { return }
    try changes.raw.forEach(from: (sequence + 1).bigEndianBytes, in: transaction) { key, value in
      guard key.byteCount > 10 else { throw TallyError.cutOffRecord }
      let created: UInt64? = value.byteCount == 8 ? value.load(bigEndianAt: 0) : nil
      try body(try Object(key: key.extracting(droppingFirst: 8)), key.load(bigEndianAt: 0), created)
      return true
    }
  }
}
