package import Foundation
import LMDB

/// A saved filter that was saved or deleted here, and not handed over yet.
package struct PendingFilter: Hashable, Sendable {
  /// What its folded name is stored as.
  package let key: [UInt8]
  /// The stored bytes; `nil` if it was deleted.
  package let value: [UInt8]?
  /// When that was, in microseconds since 1970.
  package let microseconds: Int64
}

extension StoreTransaction where Base: ~Copyable {
  /// The saved filters that have changed.
  func pendingFilters() throws -> [PendingFilter] {
    var found: [PendingFilter] = []
    try forEachSyncValue(withPrefix: SyncNotes.filterPrefix) { key, time in
      let key = Array(key.dropFirst(SyncNotes.filterPrefix.count))
      let value = try storedFilter(forKey: key)
      let time = try FieldValue(.instant, storedBytes: time).instant ?? .earliest
      found.append(PendingFilter(key: key, value: value, microseconds: time.microsecondsSince1970))
      return true
    }
    return found
  }

  /// The stored bytes of a saved filter; `nil` if there is none.
  package func storedFilter(forKey key: [UInt8]) throws -> [UInt8]? {
    try tables.values.value(forKey: Self.valueKey(ofFilter: key), in: base)
  }

  private static func valueKey(ofFilter key: [UInt8]) throws -> ValueKey {
    try ValueKey(String(decoding: key, as: UTF8.self), in: SavedFilter.namespace)
  }
}

extension StoreWriteTransaction {
  /// Takes the saved filters that have changed: they count as handed over.
  package mutating func takePendingFilters() throws -> [PendingFilter] {
    let found = try pendingFilters()
    for filter in found { try setSyncValue(nil, forKey: SyncNotes.filterPrefix + filter.key) }
    if !found.isEmpty { try noteHandedOver() }
    return found
  }

  /// Saves a filter as it is stored, or deletes it.
  ///
  /// - Throws: `damagedStore` for bytes that are not a filter.
  package mutating func setFilter(_ value: [UInt8]?, forKey key: [UInt8]) throws {
    let key = try Self.valueKey(ofFilter: key)
    guard let value else {
      try removeValues([key])
      return
    }
    guard SavedFilter(stored: value, under: key) != nil else {
      throw LMDBError.undecodable("the bytes are not a saved filter")
    }
    try write(value, forKey: key)
  }

  /// Notes all saved filters as saved at the time when they were.
  mutating func noteSavedFilters() throws {
    for filter in try savedFilters() {
      try setSyncValue(
        FieldValue.instant(filter.updatedAt).storedBytes,
        forKey: SyncNotes.filterPrefix + Array(SavedFilter.key(of: filter.name).utf8))
    }
  }
}

/// A merge of a list into another one that was made here, and not handed over yet.
package struct PendingListMerge: Hashable, Sendable {
  package let list: UUID
  /// The list that took its tasks; `nil` for a list that is not merged into any other.
  package let target: UUID?
  /// When that was, in microseconds since 1970.
  package let microseconds: Int64
}

extension StoreWriteTransaction {
  /// Notes that a list was merged into another one, and that the other one is not merged into any.
  mutating func noteMerge(ofList id: UUID, into target: UUID) throws {
    let time = FieldValue.instant(now).storedBytes
    try setSyncValue(
      time + FieldValue.id(target).storedBytes, forKey: SyncNotes.listMergePrefix + FieldValue.id(id).storedBytes)
    try setSyncValue(time, forKey: SyncNotes.listMergePrefix + FieldValue.id(target).storedBytes)
  }

  /// Notes that a list is not merged into any other, as its own deletion took its tasks along.
  ///
  /// Says nothing new of a list that never was: then nothing is sent.
  mutating func noteDeletion(ofList id: UUID) throws {
    let time = FieldValue.instant(now).storedBytes
    try setSyncValue(time, forKey: SyncNotes.listMergePrefix + FieldValue.id(id).storedBytes)
  }

  /// Takes the merges of lists: they count as handed over.
  ///
  /// A merge that was undone meanwhile is none: its list is there again.
  package mutating func takePendingListMerges() throws -> [PendingListMerge] {
    var found: [PendingListMerge] = []
    let prefix = SyncNotes.listMergePrefix
    try forEachSyncValue(withPrefix: prefix) { key, value in
      guard let list = try FieldValue(.id, storedBytes: Array(key.dropFirst(prefix.count))).id,
        let time = try FieldValue(.instant, storedBytes: Array(value.prefix(8))).instant
      else { return true }
      let isMerged = try value.count > 8 && self.list(list) == nil
      let target = isMerged ? try FieldValue(.id, storedBytes: Array(value.dropFirst(8))).id : nil
      found.append(PendingListMerge(list: list, target: target, microseconds: time.microsecondsSince1970))
      return true
    }
    for merge in found { try setSyncValue(nil, forKey: prefix + FieldValue.id(merge.list).storedBytes) }
    return found
  }
}

extension SavedFilter {
  /// Reads the stored bytes of a filter, whatever its key; `nil` for other bytes.
  package init?(storedBytes: [UInt8]) {
    guard let key = try? ValueKey("name", in: Self.namespace) else { return nil }
    self.init(stored: storedBytes, under: key)
  }

  /// Whether bytes are the stored form of a filter with this key.
  package static func isStored(_ bytes: [UInt8], under key: [UInt8]) -> Bool {
    SavedFilter(storedBytes: bytes).map { Array(Self.key(of: $0.name).utf8) == key } ?? false
  }
}
