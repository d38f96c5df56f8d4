import LMDB
import TallyEngine

/// Writes values of applications, and their images for undo.
struct ValueWriter {
  let table: Database<ValueKey, [UInt8]>
  /// Records which saved filters and series change; `nil` if the store does not synchronise.
  let syncNotes: SyncNotes?

  init(with writer: RecordWriter) {
    (table, syncNotes) = (writer.tables.values, writer.syncNotes)
  }

  /// Stores a value, or removes it if `bytes` is `nil`; returns whether anything changes.
  func write(
    _ bytes: [UInt8]?, forKey key: ValueKey, isGenerated: Bool = false, recording images: inout BeforeImages,
    in transaction: inout WriteTransaction
  ) throws(LMDBError) -> Bool {
    let old = try table.value(forKey: key, in: transaction)
    guard old != bytes else { return false }
    images.add(old, ofValue: key)
    try syncNotes?.note(key, from: old, to: bytes, isGenerated: isGenerated, in: &transaction)
    if let bytes {
      try table.put(bytes, forKey: key, in: &transaction)
    } else {
      _ = try table.remove(forKey: key, in: &transaction)
    }
    return true
  }
}

/// A range of keys in one namespace, as stored bytes.
struct ValueBounds {
  private let lower: [UInt8]
  private let upper: [UInt8]

  init(in namespace: String, from lower: (any KeyCodable)?, upTo upper: (any KeyCodable)?) throws(TallyError) {
    try ValueKey.checkNamespace(namespace)
    let prefix = Leading(namespace).encodedBytes
    self.lower = prefix + (try lower.map { (key) throws(TallyError) in try ValueKey.checked(key) } ?? [])
    if let upper {
      self.upper = prefix + (try ValueKey.checked(upper))
    } else {
      // The last byte of the prefix is zero.
      self.upper = prefix.dropLast() + [1]
    }
  }

  /// Calls a closure with the entries until it returns `false`.
  func scan<T: LMDBTransaction & ~Copyable>(
    _ tables: Tables, reversed: Bool = false, in transaction: borrowing T, _ body: (RawSpan, RawSpan) throws -> Bool
  ) throws {
    try tables.values.raw.forEach(from: lower, upTo: upper, reversed: reversed, in: transaction, body)
  }
}
