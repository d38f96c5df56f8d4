package import Foundation
package import TallyEngine

/// The local changes of one object that have not been handed over for other replicas.
package struct PendingObject: Hashable, Sendable {
  /// The kind of the object.
  package let kind: Kind
  package let id: UUID
  /// The parts that have changed, each with the time of its last change in microseconds since 1970.
  package let times: [SyncFields: Int64]
  /// The instants of the completions that were added to the ledger or removed from it while the task was deleted.
  package let detached: [Timestamp]

  package init(kind: Kind, id: UUID, times: [SyncFields: Int64], detached: [Timestamp] = []) {
    (self.kind, self.id, self.times, self.detached) = (kind, id, times, detached)
  }

  /// The kinds of objects with parts.
  package enum Kind: Sendable {
    case task, list, series
  }
}

extension PendingObject {
  init(of key: TombstoneKey, _ record: PendingRecord, detached: [Timestamp]) {
    let parts = record.entries.flatMap { entry in
      (0..<32).map { SyncFields(rawValue: 1 << $0) }.filter(entry.fields.contains).map { ($0, entry.microseconds) }
    }
    self.init(
      kind: key.isOfSeries ? .series : key.kindRawValue == ObjectKind.list.rawValue ? .list : .task, id: key.id,
      times: Dictionary(parts) { first, second in max(first, second) }, detached: detached)
  }
}

extension TombstoneKey {
  /// The key of an object in the table of pending changes.
  init(of kind: PendingObject.Kind, _ id: UUID) {
    switch kind {
    case .task: self.init(.task, id)
    case .list: self.init(.list, id)
    case .series: self.init(ofSeries: id)
    }
  }
}
