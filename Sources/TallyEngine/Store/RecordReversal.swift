import LMDB

/// The records that an undo or a redo restores, as the write has left them in the history.
package struct RecordReversal {
  private var order: [ChangeLog.Object] = []
  /// The state of each record before the write; `nil` for a record that did not exist.
  private var images: [ChangeLog.Object: [UInt8]?] = [:]

  /// The restoration of records, once nothing can refuse it any more.
  package typealias Step = (inout Writer) throws -> Void

  package init() {}

  package var isEmpty: Bool { order.isEmpty }
  package var count: Int { order.count }

  /// Adds an image of the write; of several images of one record, the first has the state before the write.
  package mutating func add(_ key: ImageKey, _ presence: ImagePresence, _ bytes: RawSpan) throws {
    guard key.kind == .record else { return }
    // Unsafe by signature only: bytes have no padding.
    let object = try unsafe ChangeLog.Object(key: key.bytes.span.bytes)
    guard images[object] == nil else { return }
    images[object] = .some(presence == .present ? bytes.bytes(from: 0) : nil)
    order.append(object)
  }

  /// Leaves out the records that are as they were before the write.
  package mutating func dropUnchanged(in snapshot: StoreSnapshot) throws {
    order = try order.filter { object in
      // Records that this program does not know must not count as unchanged.
      guard snapshot.tables.tables(number: object.collection) != nil else { return true }
      let (image, current) = (images[object] ?? nil, try snapshot.currentState(of: object)?.bytes)
      return image.map { $0.dropFirst(ChangeLog.Stamp.byteCount) }
        != current.map { $0.dropFirst(ChangeLog.Stamp.byteCount) }
    }
  }

  /// The number of records of each collection, by its name; those of unknown collections have an empty name.
  package func counts(in snapshot: StoreSnapshot?) -> [String: Int] {
    Dictionary(order.map { (snapshot?.tables.tables(number: $0.collection)?.name ?? "", 1) }, uniquingKeysWith: +)
  }

  /// Checks that the records can be restored, and returns the step that restores them.
  ///
  /// - Parameters:
  ///   - entry: the write that is reversed.
  ///   - entries: the history, newest first.
  ///   - writer: the write that reverses it.
  /// - Returns: what restores the records; until it is called, nothing has changed.
  /// - Throws: `undoConflict` if a later change prevents it, or another record has a key of a unique index now; what the
  ///   storage throws.
  package func prepare(
    after entry: HistoryEntry, _ entries: [HistoryEntry], in writer: inout Writer
  ) throws -> Step {
    let snapshot = writer.snapshot
    let states = try snapshot.laterStates(of: Set(order), after: entry, entries)
    var groups: [(tables: any ManagedTables, images: [RecordImage])] = []
    for object in order {
      guard let tables = snapshot.tables.tables(number: object.collection) else { throw TallyError.unknownCollection }
      if states.conflicting.contains(object) { throw TallyError.changedLater(tables.name) }
      let current = try snapshot.currentState(of: object)
      let image = RecordImage(
        id: object.id, contents: images[object] ?? nil,
        isConflict: current.map { $0.changed != states.lastWrites[object] } ?? false)
      if let index = groups.firstIndex(where: { $0.tables === tables }) {
        groups[index].images.append(image)
      } else {
        groups.append((tables, [image]))
      }
    }
    var steps: [Step] = []
    do {
      for group in groups { steps.append(try group.tables.restoring(group.images, in: &writer)) }
    } catch let error as TallyError where error.code == .duplicateKey {
      throw TallyError(
        .undoConflict, "The change cannot be undone: another record now has a key that must be unique",
        remedy: "Give the other record another key; nothing was changed", cause: error)
    }
    return { [steps] writer in for step in steps { try step(&writer) } }
  }
}

/// The state of a record before a write.
struct RecordImage {
  /// The record's key.
  let id: [UInt8]
  /// The stored bytes; `nil` if the record did not exist.
  let contents: [UInt8]?
  /// Whether a write that is not in the history has changed the record since.
  let isConflict: Bool
}

/// The changes of some records by later writes of the history.
struct LaterStates {
  /// The records that a later write, which has not been undone, has changed.
  var conflicting: Set<ChangeLog.Object> = []
  /// The commit of the last write in the history of each record.
  var lastWrites: [ChangeLog.Object: UInt64] = [:]
}

extension StoreSnapshot {
  fileprivate func laterStates(
    of objects: Set<ChangeLog.Object>, after entry: HistoryEntry, _ entries: [HistoryEntry]
  ) throws -> LaterStates {
    var states = LaterStates()
    for object in objects { states.lastWrites[object] = entry.id.sequence }
    let later = entries.prefix { entry.id < $0.id }
    let effective = Set(UndoLog(entries: Array(later)).effective(since: entry.id).map(\.id))
    for each in later {
      var changed = RecordReversal()
      try tables.forEachImage(of: each.id, in: view) { try changed.add($0, $1, $2) }
      for object in changed.objects where objects.contains(object) {
        states.lastWrites[object] = max(states.lastWrites[object] ?? 0, each.id.sequence)
        if effective.contains(each.id) { states.conflicting.insert(object) }
      }
    }
    return states
  }

  /// The stored bytes of a record and the commit of its last change; `nil` if it has never existed.
  fileprivate func currentState(of object: ChangeLog.Object) throws -> (bytes: [UInt8]?, changed: UInt64)? {
    if let bytes = try tables.tables(number: object.collection)?.storedBytes(of: object.id, in: view) {
      // Unsafe by signature only: bytes have no padding.
      return (bytes, try unsafe ChangeLog.Stamp(bytes.span.bytes).changed)
    }
    return try tables.log.deletion(of: object, in: view).map { (nil, $0.changed) }
  }
}

extension RecordReversal {
  /// The records, in the order of their first changes.
  fileprivate var objects: [ChangeLog.Object] { order }
}

extension TallyError {
  fileprivate static func changedLater(_ collection: String) -> TallyError {
    TallyError(
      .undoConflict,
      "The change cannot be undone: a later change of the same record of '\(collection)' has not been undone",
      remedy: "Undo the later change first, or restore the record by hand; nothing was changed")
  }

  package static let unknownCollection = TallyError(
    .undoConflict, "The change cannot be undone: it concerns a collection that this program does not know",
    remedy: "Undo it with the program that has made it; nothing was changed")
}
