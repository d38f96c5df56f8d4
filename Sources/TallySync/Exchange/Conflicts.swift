public import Foundation
public import Tally

/// A value that was overwritten: two replicas wrote the same field without knowing of each other's write.
public struct Conflict: Hashable, Sendable, Identifiable {
  /// The number of the conflict, which this store never uses again.
  public let id: UInt64
  /// The task or list; of a series, its first task.
  public let objectID: UUID
  /// Whether the object is a list.
  public let isList: Bool
  /// Whether the object is a series, whose value is for tasks that do not exist yet.
  public let isSeries: Bool
  /// The field, as the export calls it.
  public let field: String
  /// The value that lost, as the field's text.
  public let lost: String
  /// The replica that wrote it.
  public let lostReplica: ReplicaID
  /// When it was written.
  public let lostAt: Timestamp
  /// The replica that wrote the value that won.
  public let winningReplica: ReplicaID
  /// When that was written.
  public let wonAt: Timestamp
  /// When this replica noticed.
  public let noticedAt: Timestamp
}

extension ObjectState.Field {
  /// The value as people write it; empty for none.
  fileprivate func text(of bytes: [UInt8], in object: ObjectKey) throws -> String {
    guard !bytes.isEmpty || self == .progress else { return "" }
    switch self {
    case .title, .notes, .color: return String(decoding: bytes, as: UTF8.self)
    case .filter where object.isFilter: return SavedFilter(storedBytes: bytes).map { "\($0.name): \($0.text)" } ?? ""
    case .timeZone: return String(decoding: bytes, as: UTF8.self)
    case .list, .parent: return UUID(bytes: bytes)?.uuidString.lowercased() ?? ""
    case .progress: return (bytes == [1] ? TaskState.active : .notStarted).name
    default: break
    }
    var task = TaskItem(id: UUID(), title: "", createdAt: .earliest)
    try task.set(self, to: bytes)
    switch self {
    case .scheduledDate: return task.scheduledDate.map(\.description) ?? ""
    case .due: return task.dueDay.map(\.description) ?? text(of: task.dueDate, in: object)
    case .reminder: return text(of: task.reminderDate, in: object)
    case .priority: return task.priority.name
    case .cancellation: return task.cancelledAt?.iso8601 ?? ""
    case .recurrence, .rule: return task.recurrence?.text ?? ""
    case .start: return task.start.map { $0.day?.description ?? "someday" } ?? ""
    default: return task.attributes[name]?.text ?? ""
    }
  }
}

extension ObjectState.Field {
  /// Whether the value is a recurrence.
  fileprivate var isRule: Bool { self == .recurrence || self == .rule }
  /// Whether the value is a recurrence, or a date that counts from the day on which one begins.
  fileprivate var isOfRule: Bool { isRule || [.scheduledDate, .due, .reminder, .start].contains(self) }

  /// A recurrence without the place in its series.
  fileprivate func rule(in bytes: [UInt8]) throws -> [UInt8] {
    guard !bytes.isEmpty else { return [] }
    var reader = ByteReader(bytes)
    _ = try reader.countedBytes()
    return reader.rest()
  }

  /// An instant; in a series, the wall-clock time of its first day.
  private func text(of instant: Timestamp?, in object: ObjectKey) -> String {
    guard let instant else { return "" }
    return object.isSeries ? String(instant.iso8601.dropLast()) : instant.description
  }
}

/// A conflict as it is stored.
struct StoredConflict: Codable {
  var object: Data
  var field: UInt16
  var attribute: String
  var value: Data
  var lostReplica: UUID
  var lostTime: Int64
  var winningReplica: UUID
  var winningTime: Int64
  var noticedTime: Int64

  /// How many are stored, and for how long.
  static let maximumCount = 1_000
  static let maximumAge: Int64 = 90 * 86_400 * 1_000_000
}

extension StoredConflict {
  init(of object: ObjectKey, _ field: ObjectState.Field, lost: Register, to winner: Register, at time: Int64) {
    self.init(
      object: Data(object.bytes), field: field.number, attribute: field.name, value: Data(lost.value),
      lostReplica: lost.replica.uuid, lostTime: lost.time, winningReplica: winner.replica.uuid,
      winningTime: winner.time, noticedTime: time)
  }

  var key: ObjectKey {
    get throws { try ObjectKey(bytes: object) }
  }

  var stateField: ObjectState.Field { ObjectState.Field(field, name: attribute) }

  /// The object that says that somebody has restored or dismissed the value; all devices that keep the value derive the
  /// same one.
  var settlement: ObjectKey {
    let name = [UInt8](attribute.utf8)
    let bytes = [UInt8](object) + field.bigEndianBytes + UInt32(name.count).bigEndianBytes + name
    let hash = ContentHash(of: bytes + lostTime.bigEndianBytes + ReplicaID(lostReplica).bytes)
    return ObjectKey(kind: ObjectKey.settlementKind, id: UUID(bytes: Array(hash.bytes.prefix(16))) ?? UUID())
  }

  /// The write that lost.
  var lostStamp: Stamp { Stamp(time: lostTime, replica: ReplicaID(lostReplica)) }

  /// Whether its value was written later than the value of another conflict.
  fileprivate func isLater(than other: StoredConflict) -> Bool {
    (lostTime, ReplicaID(lostReplica)) > (other.lostTime, ReplicaID(other.lostReplica))
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// Whether a stored value was restored or dismissed elsewhere: a version that did not know settlements received one.
  func hasSettledConflicts() throws -> Bool {
    guard try countSyncValues(withPrefix: SyncKey.conflicts) > 0,
      try !syncValues(under: SyncKey.states + [ObjectKey.settlementKind], limit: 1).isEmpty
    else { return false }
    return try storedConflicts().contains { try isSettled($0.conflict) }
  }

  /// Whether somebody has restored or dismissed a value, here or elsewhere.
  fileprivate func isSettled(_ conflict: StoredConflict) throws -> Bool {
    try syncValue(forKey: SyncKey.states + conflict.settlement.bytes) != nil
  }

  /// The stored conflicts, oldest first.
  func storedConflicts() throws -> [(id: UInt64, conflict: StoredConflict)] {
    try syncValues(under: SyncKey.conflicts).map { key, value in
      (UInt64(bigEndianBytes: key), try JSONDecoder().decode(StoredConflict.self, from: Data(value)))
    }
  }

  /// The conflicts whose overwritten value is not in its field again, oldest first.
  ///
  /// A restored value settles its conflict on all devices when it is sent: until then an undo brings the conflict back.
  /// If a person wrote a value into a task and its series at once, only the task's conflict is listed while it is open.
  func openConflicts() throws -> [(id: UInt64, conflict: StoredConflict)] {
    let open = try storedConflicts().filter { try !isRestored($0.conflict) }
    let ofSeries = try open.filter { try $0.conflict.key.isSeries }
    guard !ofSeries.isEmpty else { return open }
    var hidden: Set<UInt64> = []
    for entry in open where try entry.conflict.key.isTask {
      hidden.formUnion(try related(to: entry.conflict, among: ofSeries).map(\.id))
    }
    return open.filter { !hidden.contains($0.id) }
  }

  /// The conflicts about what the same write said of the same task or its series.
  ///
  /// Those of a series belong to that of an open task for the same field. A rule and the dates beside it are one value:
  /// the dates count from the day on which the rule begins.
  fileprivate func related(
    to conflict: StoredConflict, among others: [(id: UInt64, conflict: StoredConflict)]
  ) throws -> [(id: UInt64, conflict: StoredConflict)] {
    let object = try conflict.key
    let others = try others.filter { other in
      guard other.conflict.lostStamp == conflict.lostStamp else { return false }
      return try other.conflict.stateField != conflict.stateField || other.conflict.key != object
    }
    guard !others.isEmpty, object.isTask || object.isSeries else { return [] }
    var series: ObjectKey?
    if object.isTask, let task = try storedTask(object.id), task.isOpen, let id = task.series?.id,
      try storedSeries(id) != nil
    {
      series = ObjectKey(ofSeries: id)
    }
    let own = try others.filter {
      let key = try $0.conflict.key
      return key == object || key == series
    }
    let hasRule = conflict.stateField.isRule || own.contains { $0.conflict.stateField.isRule }
    return own.filter {
      let field = $0.conflict.stateField
      return field == conflict.stateField || hasRule && field.isOfRule && conflict.stateField.isOfRule
    }
  }

  /// The conflicts whose overwritten value is in its field again.
  func restoredConflicts() throws -> [(id: UInt64, conflict: StoredConflict)] {
    guard try countSyncValues(withPrefix: SyncKey.conflicts) > 0 else { return [] }
    return try storedConflicts().filter { try isRestored($0.conflict) }
  }

  private func isRestored(_ conflict: StoredConflict) throws -> Bool {
    let (object, field, value) = (try conflict.key, conflict.stateField, [UInt8](conflict.value))
    if field.isRule {
      // A restored rule begins on another day.
      let item: (any SyncedItem)? = object.isSeries ? try storedSeries(object.id) : try storedTask(object.id)
      return try item.map { try field.rule(in: $0.value(of: field)) == field.rule(in: value) } ?? false
    }
    if object.isFilter {
      guard let key = try StateTable(in: self).state(of: object, in: self).registers[.filterKey]?.value else {
        return false
      }
      return try storedFilter(forKey: key) ?? [] == value
    }
    if object.isList { return try list(object.id)?.value(of: field) == value }
    if object.isSeries { return try storedSeries(object.id)?.value(of: field) == value }
    guard let task = try storedTask(object.id) else { return false }
    return !(field == .progress && task.isClosed) && task.value(of: field) == value
  }
}

extension StoreWriteTransaction {
  /// Stores conflicts that are new.
  ///
  /// If the author of a lost value has replaced it, the conflict about the next value replaces the one about the earlier.
  mutating func insertConflicts(_ found: [(conflict: StoredConflict, replaced: Stamp?)]) throws {
    let new = try found.filter { try !isSettled($0.conflict) }
    guard !new.isEmpty else { return }
    var stored = try storedConflicts()
    var next = (try syncValue(forKey: SyncKey.settings + [1]).map { UInt64(bigEndianBytes: $0) } ?? 0) + 1
    for (conflict, replaced) in new.suffix(StoredConflict.maximumCount) {
      func index(ofLost stamp: Stamp?) -> Int? {
        stored.firstIndex {
          $0.conflict.object == conflict.object && $0.conflict.stateField == conflict.stateField
            && $0.conflict.lostStamp == stamp
        }
      }
      if index(ofLost: conflict.lostStamp) != nil { continue }
      let earlier = index(ofLost: replaced)
      if let earlier {
        stored[earlier].conflict = conflict
        try write(conflict, id: stored[earlier].id)
      } else {
        try write(conflict, id: next)
        stored.append((next, conflict))
        next += 1
      }
    }
    try setSyncValue((next - 1).bigEndianBytes, forKey: SyncKey.settings + [1])
    let oldest = now.microsecondsSince1970 - StoredConflict.maximumAge
    for (index, entry) in stored.enumerated()
    where entry.conflict.noticedTime < oldest || index < stored.count - StoredConflict.maximumCount {
      try removeConflict(entry.id)
    }
  }

  /// Forgets the conflicts whose overwritten value the author of a change had seen and replaced.
  mutating func removeConflicts(seenBy changes: some Sequence<ObjectChange>) throws {
    guard try countSyncValues(withPrefix: SyncKey.conflicts) > 0 else { return }
    let changes = Dictionary(grouping: changes, by: \.object)
    for (id, conflict) in try storedConflicts() {
      let isSeen = try changes[conflict.key]?.contains { $0.replaced[conflict.stateField] == conflict.lostStamp }
      if isSeen == true { try removeConflict(id) }
    }
  }

  /// Forgets the values that somebody has restored or dismissed on another device.
  mutating func removeSettledConflicts() throws {
    for (id, conflict) in try storedConflicts() where try isSettled(conflict) { try removeConflict(id) }
  }

  /// Forgets values here and, when the change arrives, on all devices.
  mutating func settle(_ conflicts: [(id: UInt64, conflict: StoredConflict)]) throws {
    guard !conflicts.isEmpty else { return }
    try write(conflicts.map { DeviceWrite(object: $0.conflict.settlement, field: .settled, value: [1]) })
    for (id, _) in conflicts { try removeConflict(id) }
  }

  private mutating func removeConflict(_ id: UInt64) throws {
    try setSyncValue(nil, forKey: SyncKey.conflicts + id.bigEndianBytes)
  }

  private mutating func write(_ conflict: StoredConflict, id: UInt64) throws {
    try setSyncValue([UInt8](try JSONEncoder().encode(conflict)), forKey: SyncKey.conflicts + id.bigEndianBytes)
  }

  /// The conflicts with some numbers, each once; all conflicts for `nil`.
  fileprivate func conflicts(numbered ids: [UInt64]?) throws -> [(id: UInt64, conflict: StoredConflict)] {
    _ = try requireSyncSettings()
    let open = try openConflicts()
    guard let ids else { return open }
    for id in ids where !open.contains(where: { $0.id == id }) { throw TallyError.conflictNotFound(id) }
    return open.filter { ids.contains($0.id) }
  }

  /// Writes the value of a conflict as a local change, with what the same write said of the same task or its series.
  fileprivate mutating func restore(_ conflict: StoredConflict) throws {
    let (object, bytes) = (try conflict.key, [UInt8](conflict.value))
    if object.isFilter {
      guard let key = try StateTable(in: self).state(of: object, in: self).registers[.filterKey]?.value else { return }
      return try setFilter(bytes.isEmpty ? nil : bytes, forKey: key)
    }
    if object.isList {
      let text = String(decoding: bytes, as: UTF8.self)
      if conflict.stateField == .title {
        try renameList(object.id, to: text)
      } else {
        try recolorList(object.id, to: text)
      }
      return
    }
    let all = try [conflict] + related(to: conflict, among: storedConflicts()).map(\.conflict)
    let ofTask = try all.filter { try $0.key.isTask }
    // A task that gets a rule gives it to its series, with the dates.
    let hasRule = ofTask.contains { $0.stateField.isRule }
    let ofSeries = try all.filter { try $0.key.isSeries && !(hasRule && $0.stateField.isOfRule) }
    // A series that refuses its values does so before anything is written.
    let series = try restored(ofSeries)
    if let first = ofTask.first { try restoreTask(first.key.id, to: ofTask) }
    if let series { try write(series) }
  }

  private mutating func restoreTask(_ id: UUID, to conflicts: [StoredConflict]) throws {
    guard var task = try task(id) else { throw TallyError.taskNotFound(id) }
    for conflict in conflicts {
      let (field, bytes) = (conflict.stateField, [UInt8](conflict.value))
      if field == .progress, task.isOpen { task.state = bytes == [1] ? .active : .notStarted }
      if field == .cancellation { task.state = bytes.isEmpty ? .notStarted : .cancelled }
      try task.set(field, to: bytes)
      if field == .list, let list = task.listID, try self.list(list) == nil { throw TallyError.listNotFound(list) }
      if field == .parent, let parent = task.parentID, try self.task(parent) == nil {
        throw TallyError.taskNotFound(parent)
      }
    }
    try update(id) { [task] stored in stored = task }
  }

  /// A series with the values of conflicts; `nil` for none.
  private func restored(_ conflicts: [StoredConflict]) throws -> TaskSeries? {
    guard let id = try conflicts.first?.key.id else { return nil }
    guard var series = try storedSeries(id) else {
      throw TallyError(.invalidRecurrence, "The series has ended", remedy: "Dismiss the conflict")
    }
    let former = series.start
    do {
      for conflict in conflicts.sorted(by: { $0.stateField.isRule && !$1.stateField.isRule }) {
        try series.set(conflict.stateField, to: [UInt8](conflict.value))
      }
    } catch is CodingFault {
      throw TallyError(
        .invalidRecurrence, "The series is not possible with this value beside its others",
        remedy: "Dismiss the conflict")
    }
    if conflicts.allSatisfy({ $0.stateField.isRule || !$0.stateField.isOfRule }) { series.moveDates(from: former) }
    if let list = series.template.listID, try self.list(list) == nil { throw TallyError.listNotFound(list) }
    series.touch(at: now)
    return series
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The title or name of what a conflict is about; `nil` if it does not exist any more.
  package func name(of conflict: Conflict) throws -> String? {
    if conflict.isSeries { return try storedSeries(conflict.objectID)?.template.title }
    if conflict.isList { return try list(conflict.objectID)?.name }
    return try task(conflict.objectID)?.title
  }
}

extension StoreSync {
  /// The conflicts, the newest first; at most 1,000, and none for more than 90 days.
  ///
  /// - Returns: The conflicts.
  /// - Throws: `TallyError` with `notSynchronising`.
  public func conflicts() async throws -> [Conflict] {
    try store.readSynchronization { transaction in
      _ = try transaction.requireSyncSettings()
      return try transaction.openConflicts().reversed().map { try Conflict($0.id, $0.conflict) }
    }
  }

  /// Restores an overwritten value, as a new change.
  ///
  /// The next exchange settles the conflict on all devices. Until then an undo brings it back.
  ///
  /// - Parameter id: The number of the conflict.
  /// - Returns: The conflict.
  /// - Throws: `TallyError` with `conflictNotFound`; `taskNotFound` or `listNotFound` if the object is deleted; another
  ///   code if the store refuses the value, such as `valueOutOfRange` or `invalidParent`. The conflict then stays.
  @discardableResult
  public func restoreConflict(_ id: UInt64) async throws -> Conflict {
    try await store.write { transaction in
      let stored = try transaction.conflicts(numbered: [id])[0]
      do {
        try transaction.restore(stored.conflict)
      } catch let error as TallyError where error.refusesValue {
        throw TallyError.refusedConflict(id, because: error)
      }
      return try Conflict(id, stored.conflict)
    }
  }

  /// Restores all overwritten values, as one change made now.
  ///
  /// If several values of one field were overwritten, the one that was written last is restored; the others stay
  /// conflicts. So do values of deleted objects, and values that the store refuses: a text that is too large to be
  /// sent, or a parent that is a sub-task of the task itself.
  ///
  /// - Returns: The restored ones, which all devices forget after the next exchange.
  /// - Throws: `TallyError` with `notSynchronising`; what the store throws.
  public func restoreAllConflicts() async throws -> [Conflict] {
    try await store.write { transaction in
      _ = try transaction.requireSyncSettings()
      var latest: [RestoredField: (id: UInt64, conflict: StoredConflict)] = [:]
      for stored in try transaction.openConflicts() {
        let field = RestoredField(object: try stored.conflict.key, field: stored.conflict.stateField)
        if let other = latest[field]?.conflict, other.isLater(than: stored.conflict) { continue }
        latest[field] = stored
      }
      var restored: [(id: UInt64, conflict: StoredConflict)] = []
      for stored in latest.values.sorted(by: { $0.id < $1.id }) {
        do {
          try transaction.restore(stored.conflict)
          restored.append(stored)
        } catch let error as TallyError where error.refusesValue {
          // The value stays.
        }
      }
      return try restored.map { try Conflict($0.id, $0.conflict) }
    }
  }

  /// Dismisses conflicts on all devices: the overwritten values are forgotten, and the present ones stay.
  ///
  /// - Parameter ids: The numbers of the conflicts; `nil` for all.
  /// - Returns: The dismissed ones.
  /// - Throws: `TallyError` with `notSynchronising` or `conflictNotFound`; nothing is dismissed then.
  @discardableResult
  public func dismissConflicts(_ ids: [UInt64]? = nil) async throws -> [Conflict] {
    try await store.write { transaction in
      let (stored, all) = (try transaction.conflicts(numbered: ids), try transaction.storedConflicts())
      let ofSeries = try stored.flatMap { entry in
        try transaction.related(to: entry.conflict, among: all).filter {
          $0.conflict.stateField == entry.conflict.stateField
        }
      }
      try transaction.settle(stored + ofSeries)
      return try stored.map { try Conflict($0.id, $0.conflict) }
    }
  }
}

/// A field of an object, of which several values may have lost.
private struct RestoredField: Hashable {
  let object: ObjectKey
  let field: ObjectState.Field
}

extension TallyError {
  /// Whether the store refuses a value, or has no object for it; otherwise it fails for another reason.
  fileprivate var refusesValue: Bool {
    [
      .taskNotFound, .listNotFound, .blankTitle, .blankListName, .invalidColor, .invalidDay, .invalidInstant,
      .invalidState, .invalidRecurrence, .valueOutOfRange, .inconsistentTask, .invalidTag, .invalidPriority,
      .invalidAttribute, .invalidParent, .invalidFilter, .invalidKey, .invalidValue, .differentPlaces,
    ].contains(code)
  }

  /// The error for a conflict whose value the store refuses.
  fileprivate static func refusedConflict(_ id: UInt64, because error: TallyError) -> TallyError {
    let isMissing = [.taskNotFound, .listNotFound].contains(error.code)
    return TallyError(
      error.code, "The value of conflict \(id) cannot be restored: \(error.message)",
      remedy: isMissing
        ? "Restore it from the trash first; the value stays among the conflicts"
        : "The value stays among the conflicts: copy what you need from it, or dismiss it", cause: error)
  }
}

extension Conflict {
  init(_ id: UInt64, _ stored: StoredConflict) throws {
    let object = try stored.key
    self.init(
      id: id, objectID: object.id, isList: object.isList, isSeries: object.isSeries,
      field: stored.stateField.exportName(in: object),
      lost: try stored.stateField.text(of: [UInt8](stored.value), in: object),
      lostReplica: ReplicaID(stored.lostReplica), lostAt: Timestamp(clamping: stored.lostTime),
      winningReplica: ReplicaID(stored.winningReplica), wonAt: Timestamp(clamping: stored.winningTime),
      noticedAt: Timestamp(clamping: stored.noticedTime))
  }
}
