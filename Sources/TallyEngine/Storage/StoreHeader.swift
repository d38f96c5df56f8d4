package import Foundation
package import LMDB

/// The only record of `meta`: the identity, format and progress of the store.
///
/// ```
/// offset size
///      0    2  major format: a newer one is refused
///      2    2  minor format: a newer one is accepted, and what it added is preserved
///      4    2  features that every program that opens the store must know
///      6    2  features that every program that writes to the store must know
///      8   16  the store's identity
///     24    8  commit sequence: rises by one with each commit
///     32    8  the commit from which the log of changes is complete; 0 unless the store was restored
///     40       fields that a newer minor version has added; preserved on a rewrite
/// ```
///
/// liblmdb's own transaction numbers cannot serve as the sequence: they start again when a store is compacted.
package struct StoreHeader: BinaryCodable, Hashable {
  package static let currentMajorFormat: UInt16 = 2
  package static let currentMinorFormat: UInt16 = 0
  package static let headByteCount = 40
  /// The highest sequence that a store can have.
  package static let lastSequence = UInt64(Int64.max) - 1

  package var majorFormat = Self.currentMajorFormat
  package var minorFormat = Self.currentMinorFormat
  package var storeID: UUID
  package var sequence: UInt64
  /// The commit from which the log of changes is complete: earlier commits belong to another state of the store.
  package var logStart: UInt64 = 0
  /// The required ``StoreFeatures``; a store with an unknown one is refused.
  package var requiredFeatures = StoreFeatures.taggedRecords
  /// The ``StoreFeatures`` that writers must know; a store with an unknown one is opened for reading only.
  package var writerFeatures: StoreFeatures = []
  package private(set) var trailing: [UInt8] = []

  package var encodedByteCount: Int { Self.headByteCount + trailing.count }

  /// Whether writes record their changes for other replicas.
  package var synchronizes: Bool { writerFeatures.contains(.synchronizes) }

  /// Whether there can be another commit; false only if the header is damaged.
  package var hasNextSequence: Bool { sequence < Self.lastSequence }

  /// The name of the table with the header.
  package static let tableName = "meta"

  /// The table of a new store.
  package static func table(
    creatingIn transaction: inout WriteTransaction
  ) throws(LMDBError) -> Database<MetaKey, StoreHeader> {
    try Database(opening: tableName, creating: true, in: &transaction)
  }

  /// The table of an existing store.
  package static func table(in environment: LMDBEnvironment) throws(LMDBError) -> Database<MetaKey, StoreHeader> {
    try Database(opening: tableName, in: environment)
  }

  package init(storeID: UUID, sequence: UInt64) {
    self.storeID = storeID
    self.sequence = sequence
  }

  @_lifetime(output: copy output)
  package func encode(into output: inout OutputRawSpan) {
    output.append(bigEndian: majorFormat)
    output.append(bigEndian: minorFormat)
    output.append(bigEndian: requiredFeatures.rawValue)
    output.append(bigEndian: writerFeatures.rawValue)
    output.append(storeID)
    output.append(bigEndian: sequence)
    output.append(bigEndian: logStart)
    trailing.encode(into: &output)
  }

  package init(decoding bytes: RawSpan) throws(LMDBError) {
    // A newer format may have a longer header; the first fields keep their places.
    guard bytes.byteCount >= Self.headByteCount else { throw .undecodable("the store's header is too short") }
    majorFormat = bytes.load(bigEndianAt: 0)
    guard majorFormat > 0 else { throw .undecodable("the number of the store's format is impossible") }
    minorFormat = bytes.load(bigEndianAt: 2)
    storeID = bytes.load(idAt: 8)
    sequence = bytes.load(bigEndianAt: 24)
    logStart = bytes.load(bigEndianAt: 32)
    guard sequence <= Self.lastSequence else { throw .undecodable("the store's commit sequence is impossible") }
    requiredFeatures = StoreFeatures(rawValue: bytes.load(bigEndianAt: 4))
    writerFeatures = StoreFeatures(rawValue: bytes.load(bigEndianAt: 6))
    trailing = bytes.bytes(from: Self.headByteCount)
  }
}

/// Features of a store beyond its format, like ext4's feature bits; the numbers are stored: do not change them.
package struct StoreFeatures: OptionSet, Hashable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// Records have tagged fields, as in every store of format 1; earlier development versions had none.
  package static let taggedRecords = StoreFeatures(rawValue: 1 << 0)

  /// Commits may have gone through a journal beside the data file, which repeats them after a power cut.
  ///
  /// Earlier versions set it before the first of them. This one writes no journal, and removes it before it writes.
  package static let journal = StoreFeatures(rawValue: 1 << 1)

  /// The store has the catalogue of an engine, and tables of its collections.
  ///
  /// Versions without collections refuse such a store: they would write without keeping the collections.
  package static let collections = StoreFeatures(rawValue: 1 << 2)

  /// A store of another kind has collections of an application beside its own tables.
  package static let ownCollections = StoreFeatures(rawValue: 1 << 3)

  /// Tasks have states or fields that a program without this feature would misread or leave out of an index.
  ///
  /// The first write of such a task sets it.
  package static let taskLife = StoreFeatures(rawValue: 1 << 4)

  /// Commits may be in a log beside the data file, which has everything only when the store is closed.
  ///
  /// Set while a log is there.
  package static let log = StoreFeatures(rawValue: 1 << 5)

  /// Writes record their changes for other replicas.
  package static let synchronizes = StoreFeatures(rawValue: 1 << 0)

  /// The required features that this version knows.
  package static let knownRequired: StoreFeatures = [
    .taggedRecords, .journal, .collections, .ownCollections, .taskLife, .log,
  ]
  /// The writer features that this version knows.
  package static let knownWriter: StoreFeatures = [.synchronizes]
}

/// The name of a record in `meta`.
package struct MetaKey: KeyCodable, Hashable {
  package let name: String

  /// The record with the store's format, identity and sequence.
  package static let header = MetaKey(name: "header")

  package var encodedByteCount: Int { name.utf8.count }

  @_lifetime(output: copy output)
  package func encode(into output: inout OutputRawSpan) {
    name.encode(into: &output)
  }
}

extension MetaKey {
  package init(decoding bytes: RawSpan) throws(LMDBError) { name = bytes.text }
}
