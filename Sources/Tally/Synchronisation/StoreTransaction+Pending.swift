package import Foundation
import LMDB

/// Local changes of one object that other replicas do not have yet.
package struct PendingObject: Hashable, Sendable {
  /// Whether it is a list, and not a task.
  package let isList: Bool
  package let id: UUID
  /// The parts that have changed, each with the time of its last change in microseconds since 1970.
  package let times: [SyncFields: Int64]
}

extension StoreWriteTransaction {
  /// From this write on, notes the changes of every write for other replicas.
  ///
  /// Versions that cannot do that open the store for reading only.
  package mutating func beginSynchronising() throws {
    var header = try header()
    guard !header.synchronises else { return }
    header.writerFeatures.insert(.synchronises)
    try changeIfNeeded { [header] (tables, _, base) throws(LMDBError) in
      try tables.meta.put(header, forKey: .header, in: &base)
      return false
    }
    pending = try PendingChanges(at: now, creating: true, in: &base)
  }

  /// Takes the changes that have been noted so far: they count as handed over.
  ///
  /// - Parameter limit: of how many objects at most.
  package mutating func takePending(limit: Int) throws -> [PendingObject] {
    guard let table = pending?.table else { return [] }
    var taken: [(key: TombstoneKey, record: PendingRecord)] = []
    try table.forEach(in: base) { key, value in
      taken.append((try TombstoneKey(decoding: key), try PendingRecord(decoding: value)))
      return taken.count < limit
    }
    for (key, _) in taken { _ = try table.remove(forKey: key, in: &base) }
    return taken.map { PendingObject(of: $0.key, $0.record) }
  }
}

extension PendingObject {
  fileprivate init(of key: TombstoneKey, _ record: PendingRecord) {
    let parts = record.entries.flatMap { entry in
      (0..<32).map { SyncFields(rawValue: 1 << $0) }.filter(entry.fields.contains).map { ($0, entry.microseconds) }
    }
    self.init(
      isList: key.kindRawValue == ObjectKind.list.rawValue, id: key.id,
      times: Dictionary(parts) { first, second in max(first, second) })
  }
}
