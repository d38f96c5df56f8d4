import LMDB

/// When local writes changed the parts of an object, since its changes were last handed over for other replicas.
///
/// ```
/// offset size
///      0    1  format of the record, 1
///      1   12  for each time: the parts changed then for the last time, and the time in microseconds since 1970
/// ```
struct PendingRecord: BinaryCodable, Hashable {
  static let format: UInt8 = 1
  private static let entryByteCount = 12

  /// Ascending by the time of their addition; each part is in one entry.
  private(set) var entries: [Entry] = []

  struct Entry: Hashable {
    var fields: SyncFields
    var microseconds: Int64
  }

  /// Records that parts have changed at a time.
  mutating func add(_ fields: SyncFields, at microseconds: Int64) {
    for index in entries.indices { entries[index].fields.subtract(fields) }
    entries.removeAll { $0.fields.isEmpty }
    if let index = entries.firstIndex(where: { $0.microseconds == microseconds }) {
      entries[index].fields.formUnion(fields)
    } else {
      entries.append(Entry(fields: fields, microseconds: microseconds))
    }
  }

  /// When the first of the parts changed for the last time.
  var earliestTime: Int64? { entries.map(\.microseconds).min() }

  var encodedByteCount: Int { 1 + entries.count * Self.entryByteCount }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(Self.format)
    for entry in entries {
      output.append(bigEndian: entry.fields.rawValue)
      output.append(ordered: entry.microseconds)
    }
  }
}

extension PendingRecord {
  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount >= 1, (bytes.byteCount - 1).isMultiple(of: Self.entryByteCount),
      bytes.load(bigEndianAt: 0) == Self.format
    else { throw .undecodable("a record of pending changes has the wrong size or an unknown format") }
    for offset in stride(from: 1, to: bytes.byteCount, by: Self.entryByteCount) {
      entries.append(
        Entry(
          fields: SyncFields(rawValue: bytes.load(bigEndianAt: offset)),
          microseconds: bytes.load(orderedInt64At: offset + 4)))
    }
  }
}
