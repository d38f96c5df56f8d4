import LMDB
import TallyEngine

/// The times of values that a program has set, such as those of the next task of a series.
///
/// They are earlier than any time of a clock, so a value that a person wrote wins over them on every device. They keep
/// the order in which they were set. Those of series that are described by a task have the reverse order: the first wins.
package enum GeneratedTime {
  /// How far they are shifted into the past, in microseconds: 73,000 years.
  private static let shift: Int64 = 1 << 61

  /// The time of a value that a program sets when the clock shows `microseconds`.
  package static func time(at microseconds: Int64) -> Int64 { microseconds &- shift }

  /// Whether a time belongs to a value that a program has set.
  package static func contains(_ microseconds: Int64) -> Bool { microseconds < -(shift / 2) }
}

/// When local writes changed the parts of an object, for changes that have not been handed over yet.
///
/// ```
/// offset size
///      0    1  format of the record, 1
///      1   12  for each time: the parts last changed at that time, and the time in microseconds since 1970
/// ```
///
/// A part may be in two entries, one of a program (see ``GeneratedTime``) and one of a person, which wins.
struct PendingRecord: BinaryCodable, Hashable {
  static let format: UInt8 = 1
  private static let entryByteCount = 12

  /// The entries in the order of their addition; each part is in at most one entry of a person and one of a program.
  private(set) var entries: [Entry] = []

  struct Entry: Hashable {
    var fields: SyncFields
    var microseconds: Int64
  }

  /// Records that parts have changed at a time.
  mutating func add(_ fields: SyncFields, at microseconds: Int64) {
    remove(fields, wereGenerated: GeneratedTime.contains(microseconds))
    if let index = entries.firstIndex(where: { $0.microseconds == microseconds }) {
      entries[index].fields.formUnion(fields)
    } else {
      entries.append(Entry(fields: fields, microseconds: microseconds))
    }
  }

  /// Removes parts from the entries of programs, or from those of people.
  mutating func remove(_ fields: SyncFields, wereGenerated: Bool) {
    for index in entries.indices where GeneratedTime.contains(entries[index].microseconds) == wereGenerated {
      entries[index].fields.subtract(fields)
    }
    entries.removeAll { $0.fields.isEmpty }
  }

  /// All parts in the record.
  var fields: SyncFields { entries.reduce(into: []) { $0.formUnion($1.fields) } }

  /// The earliest time of a part that a person has written.
  var earliestTime: Int64? { entries.map(\.microseconds).filter { !GeneratedTime.contains($0) }.min() }

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
